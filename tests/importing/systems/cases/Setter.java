import org.rocksdb.*;
public class Setter implements RocksDBConfigSetter {
  private final Cache cache = new LRUCache(16 * 1024L * 1024L);
  public void setConfig(String name, Options options, Map<String, Object> configs) {
    BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
    table.setBlockCache(cache);
    table.setBlockSize(16 * 1024L);
    // options.setMaxWriteBufferNumber(9);
    options.setWriteBufferSize(8 * 1024 * 1024L);
    options.setMaxWriteBufferNumber(buffers);
    options.setCompactionStyle(CompactionStyle.UNIVERSAL);
  }
}
