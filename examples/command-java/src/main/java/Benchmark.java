import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.OptionsUtil;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * A benchmark that rocktune can tune: it opens RocksDB with the OPTIONS file that it is given, puts and gets for some
 * seconds, and prints its figures as the last line, in JSON.
 *
 * <pre>
 *   mvn package
 *   java -jar target/benchmark.jar OPTIONS_FILE DATA_DIRECTORY SECONDS SEED
 * </pre>
 */
public final class Benchmark {
  private static final int KEYS = 200_000;
  private static final int VALUE_BYTES = 400;
  private static final int MAX_SAMPLE = 1 << 22;

  public static void main(String[] arguments) throws RocksDBException {
    if (arguments.length != 4) {
      System.err.println("usage: benchmark.jar OPTIONS_FILE DATA_DIRECTORY SECONDS SEED");
      System.exit(2);
    }
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (ConfigOptions configOptions = new ConfigOptions(); DBOptions options = new DBOptions()) {
      OptionsUtil.loadOptionsFromFile(configOptions, arguments[0], options, families);
      options.setCreateIfMissing(true);
      // What an OPTIONS file cannot hold is set here: a comparator, a merge operator, listeners.
      try (RocksDB database = RocksDB.open(options, arguments[1], families, handles)) {
        run(database, Double.parseDouble(arguments[2]), Long.parseLong(arguments[3]));
        handles.forEach(ColumnFamilyHandle::close);
      }
    }
  }

  private static void run(RocksDB database, double seconds, long seed) throws RocksDBException {
    SplittableRandom random = new SplittableRandom(seed);
    byte[] value = new byte[VALUE_BYTES];
    long[] readLatenciesNs = new long[MAX_SAMPLE];
    int reads = 0;
    long operations = 0;
    long begin = System.nanoTime();
    long end = begin + (long) (seconds * 1e9);
    for (long now = begin; now < end || reads == 0; operations++) {
      byte[] key = String.format("key%012d", random.nextInt(KEYS)).getBytes(StandardCharsets.US_ASCII);
      long before = System.nanoTime();
      if (random.nextBoolean()) {
        database.get(key);
        now = System.nanoTime();
        readLatenciesNs[reads++ % MAX_SAMPLE] = now - before;
      } else {
        Arrays.fill(value, (byte) ('a' + random.nextInt(26)));
        database.put(key, value);
        now = System.nanoTime();
      }
    }
    double elapsedS = (System.nanoTime() - begin) / 1e9;
    long[] sample = Arrays.copyOf(readLatenciesNs, Math.min(reads, MAX_SAMPLE));
    Arrays.sort(sample);
    System.out.printf(
        Locale.ROOT,
        "{\"throughput_ops_s\": %.1f, \"read_latency_us_p99\": %.3f}%n",
        operations / elapsedS,
        sample[(int) (0.99 * (sample.length - 1))] / 1e3);
  }
}
