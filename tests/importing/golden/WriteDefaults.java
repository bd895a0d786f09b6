// Opens a store with RocksDB's defaults, so that RocksDB writes its OPTIONS file (README.md).
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;

public final class WriteDefaults {
  public static void main(String[] arguments) throws Exception {
    RocksDB.loadLibrary();
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    families.add(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, new ColumnFamilyOptions()));
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    RocksDB store = RocksDB.open(new DBOptions().setCreateIfMissing(true), arguments[0], families, handles);
    handles.forEach(ColumnFamilyHandle::close);
    store.close();
  }
}
