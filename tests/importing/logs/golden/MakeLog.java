import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.rocksdb.*;

/** Writes into two column families until their writes stall, as every rocksdbjni since 5.0 can. */
public final class MakeLog {
  public static void main(String[] arguments) throws Exception {
    RocksDB.loadLibrary();
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    for (String name : new String[] {"default", "a:b \"c\" d"}) {
      ColumnFamilyOptions options =
          new ColumnFamilyOptions()
              .setWriteBufferSize(64 << 10)
              .setTargetFileSizeBase(64 << 10)
              .setMaxBytesForLevelBase(256 << 10)
              .setLevelZeroFileNumCompactionTrigger(2)
              .setLevelZeroSlowdownWritesTrigger(3)
              .setLevelZeroStopWritesTrigger(5)
              .setCompressionType(CompressionType.NO_COMPRESSION);
      families.add(new ColumnFamilyDescriptor(name.getBytes("UTF-8"), options));
    }
    DBOptions options =
        new DBOptions()
            .setCreateIfMissing(true)
            .setCreateMissingColumnFamilies(true)
            .setStatsDumpPeriodSec(1);
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    RocksDB database = RocksDB.open(options, arguments[0], families, handles);
    Random random = new Random(1);
    byte[] value = new byte[400];
    for (int put = 0; put < 1_300; put++) {
      random.nextBytes(value);
      byte[] key = String.format("%016d", random.nextInt(20_000)).getBytes("UTF-8");
      database.put(handles.get(random.nextInt(handles.size())), key, value);
    }
    Thread.sleep(1_200); // for the second dump of statistics
    System.out.println(database.getProperty(handles.get(1), "rocksdb.stats"));
    for (ColumnFamilyHandle handle : handles) handle.close();
    database.close();
  }
}
