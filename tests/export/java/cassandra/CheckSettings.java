import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Paths;
import org.apache.cassandra.config.Config;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.config.YamlConfigurationLoader;
import org.apache.cassandra.cql3.CQLFragmentParser;
import org.apache.cassandra.cql3.CqlParser;
import org.apache.cassandra.cql3.statements.schema.AlterTableStatement;
import org.apache.cassandra.cql3.statements.schema.TableAttributes;
import org.apache.cassandra.schema.TableParams;

/** Lets Cassandra read the exported cassandra.yaml and ALTER TABLE, and prints what it made of them. */
public final class CheckSettings {
  public static void main(final String[] arguments) throws Exception {
    DatabaseDescriptor.clientInitialization();
    final Config config =
        new YamlConfigurationLoader().loadConfig(Paths.get(arguments[0]).toUri().toURL());
    print("memtable_heap_space", config.memtable_heap_space);
    print("memtable_cleanup_threshold", config.memtable_cleanup_threshold);
    print("memtable_flush_writers", config.memtable_flush_writers);
    print("concurrent_compactors", config.concurrent_compactors);
    print("file_cache_enabled", config.file_cache_enabled);
    print("file_cache_size", config.file_cache_size);

    final String statement = Files.readString(Paths.get(arguments[1]));
    final Object parsed = CQLFragmentParser.parseAny(CqlParser::query, statement, "statement");
    final Field field = AlterTableStatement.Raw.class.getDeclaredField("attrs");
    field.setAccessible(true);
    final TableAttributes attributes = (TableAttributes) field.get(parsed);
    attributes.validate();
    final Method altered =
        TableAttributes.class.getDeclaredMethod("asAlteredTableParams", TableParams.class);
    altered.setAccessible(true);
    final TableParams params =
        (TableParams) altered.invoke(attributes, TableParams.builder().build());
    params.validate();
    print("compaction", params.compaction.asMap());
    print("compression", params.compression.asMap());
    print("bloom_filter_fp_chance", params.bloomFilterFpChance);
  }

  private static void print(final String name, final Object value) {
    System.out.println(name + ": " + value);
  }
}
