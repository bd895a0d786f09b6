import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.util.Comparator;
import java.util.Properties;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.state.KeyValueStore;

/** Runs a topology with the exported class, and prints the OPTIONS file of its store. */
public final class OpenStore {
  public static void main(final String[] arguments) throws Exception {
    final StreamsBuilder builder = new StreamsBuilder();
    builder.table(
        "input", Materialized.<String, String, KeyValueStore<Bytes, byte[]>>as("words"));
    final Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "rocktune");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "nowhere:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, arguments[0]);
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, RocktuneConfigSetter.class);
    try (TopologyTestDriver driver = new TopologyTestDriver(builder.build(), properties);
        Stream<Path> files = Files.walk(Paths.get(arguments[0]))) {
      driver
          .createInputTopic("input", new StringSerializer(), new StringSerializer())
          .pipeInput("key", "value");
      System.out.println("# " + driver.getKeyValueStore("words").get("key"));
      final Path written =
          files
              .filter(file -> file.getFileName().toString().startsWith("OPTIONS-"))
              .max(Comparator.naturalOrder())
              .orElseThrow();
      System.out.print(Files.readString(written));
    }
  }
}
