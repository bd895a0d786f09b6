import org.rocksdb.Options;
import org.rocksdb.RocksDB;

/** Opens a store with the exported class, in the directory that is its argument, and uses it. */
public final class OpenStore {
  public static void main(final String[] arguments) throws Exception {
    try (RocktuneOptions tuned = new RocktuneOptions();
        Options options = tuned.apply(new Options().setCreateIfMissing(true));
        RocksDB store = RocksDB.open(options, arguments[0])) {
      store.put("key".getBytes(), "value".getBytes());
      System.out.println(new String(store.get("key".getBytes())));
      System.out.println(store.getProperty("rocksdb.block-cache-capacity"));
    }
  }
}
