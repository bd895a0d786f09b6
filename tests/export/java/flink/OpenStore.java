import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Comparator;
import java.util.stream.Stream;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.GlobalConfiguration;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.PredefinedOptions;
import org.apache.flink.state.rocksdb.RocksDBResourceContainer;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/**
 * Lets Flink read the config.yaml in the directory of its first argument, and make RocksDB's options of it;
 * opens a store with them in the second, and prints its OPTIONS file and block cache's size.
 */
public final class OpenStore {
  public static void main(final String[] arguments) throws Exception {
    RocksDB.loadLibrary();
    final Configuration configuration = GlobalConfiguration.loadConfiguration(arguments[0]);
    new EmbeddedRocksDBStateBackend()
        .configure(configuration, OpenStore.class.getClassLoader());
    try (RocksDBResourceContainer container =
            new RocksDBResourceContainer(
                configuration, PredefinedOptions.DEFAULT, null, null, null, false);
        DBOptions database = container.getDbOptions();
        ColumnFamilyOptions family = container.getColumnOptions();
        Options options = new Options(database, family);
        RocksDB store = RocksDB.open(options, arguments[1]);
        Stream<Path> files = Files.list(Paths.get(arguments[1]))) {
      final BlockBasedTableConfig table = (BlockBasedTableConfig) family.tableFormatConfig();
      System.out.println("# " + table.blockCacheSize());
      final Path written =
          files
              .filter(file -> file.getFileName().toString().startsWith("OPTIONS-"))
              .max(Comparator.naturalOrder())
              .orElseThrow();
      System.out.print(Files.readString(written));
    }
  }
}
