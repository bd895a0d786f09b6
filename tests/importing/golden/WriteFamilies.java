// Opens a store of three families with many options set, so that RocksDB writes its OPTIONS file (README.md).
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.AbstractComparator;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.BloomFilter;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.CompactionOptionsFIFO;
import org.rocksdb.CompactionOptionsUniversal;
import org.rocksdb.CompactionStyle;
import org.rocksdb.ComparatorOptions;
import org.rocksdb.CompressionOptions;
import org.rocksdb.CompressionType;
import org.rocksdb.DBOptions;
import org.rocksdb.HashLinkedListMemTableConfig;
import org.rocksdb.IndexType;
import org.rocksdb.LRUCache;
import org.rocksdb.RateLimiter;
import org.rocksdb.RocksDB;
import org.rocksdb.StringAppendOperator;
import org.rocksdb.WALRecoveryMode;

public final class WriteFamilies {
  private static final class Order extends AbstractComparator {
    Order() {
      super(new ComparatorOptions());
    }

    @Override
    public String name() {
      return "acme.Order";
    }

    @Override
    public int compare(ByteBuffer left, ByteBuffer right) {
      return left.compareTo(right);
    }
  }

  public static void main(String[] arguments) throws Exception {
    RocksDB.loadLibrary();
    DBOptions options =
        new DBOptions()
            .setCreateIfMissing(true)
            .setCreateMissingColumnFamilies(true)
            .setAllowConcurrentMemtableWrite(false) // hash memtables need it
            .setMaxBackgroundJobs(6)
            .setMaxOpenFiles(-1) // FIFO compaction needs it
            .setBytesPerSync(1 << 20)
            .setMaxSubcompactions(3)
            .setRateLimiter(new RateLimiter(64 << 20))
            .setDbLogDir(arguments[0] + "/log: of #one")
            .setWalRecoveryMode(WALRecoveryMode.AbsoluteConsistency)
            .setEnablePipelinedWrite(true);
    List<ColumnFamilyDescriptor> families =
        List.of(
            family("default", level()),
            family("queue: \"hot\" #one", universal()),
            family("events", fifo()),
            family("index", hashed()));
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    RocksDB store = RocksDB.open(options, arguments[0], families, handles);
    handles.forEach(ColumnFamilyHandle::close);
    store.close();
  }

  private static ColumnFamilyDescriptor family(String name, ColumnFamilyOptions options) {
    return new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.UTF_8), options);
  }

  private static ColumnFamilyOptions level() {
    return new ColumnFamilyOptions()
        .setWriteBufferSize(48 << 20)
        .setMaxWriteBufferNumber(5)
        .setMinWriteBufferNumberToMerge(2)
        .setNumLevels(6)
        .setCompressionPerLevel(
            List.of(
                CompressionType.NO_COMPRESSION,
                CompressionType.NO_COMPRESSION,
                CompressionType.LZ4_COMPRESSION,
                CompressionType.ZSTD_COMPRESSION,
                CompressionType.ZSTD_COMPRESSION,
                CompressionType.ZSTD_COMPRESSION))
        .setBottommostCompressionType(CompressionType.ZSTD_COMPRESSION)
        .setBottommostCompressionOptions(
            new CompressionOptions().setEnabled(true).setLevel(7).setMaxDictBytes(16384))
        .setLevel0SlowdownWritesTrigger(24)
        .setSoftPendingCompactionBytesLimit(32L << 30)
        .setMaxBytesForLevelMultiplier(8.5)
        .setMaxBytesForLevelMultiplierAdditional(new int[] {1, 2, 1, 1, 1, 1})
        .setMemtablePrefixBloomSizeRatio(0.05)
        .useFixedLengthPrefixExtractor(8)
        .setEnableBlobFiles(true)
        .setMinBlobSize(4096)
        .setTtl(86400)
        .setPeriodicCompactionSeconds(604800)
        .setTableFormatConfig(
            new BlockBasedTableConfig()
                .setBlockSize(16384)
                .setFilterPolicy(new BloomFilter(9.5))
                .setIndexType(IndexType.kTwoLevelIndexSearch)
                .setPartitionFilters(true)
                .setCacheIndexAndFilterBlocks(true)
                .setBlockCache(new LRUCache(256 << 20)));
  }

  private static ColumnFamilyOptions universal() {
    return new ColumnFamilyOptions()
        .setCompactionStyle(CompactionStyle.UNIVERSAL)
        .setCompactionOptionsUniversal(
            new CompactionOptionsUniversal().setSizeRatio(10).setMaxMergeWidth(12))
        .setComparator(new Order());
  }

  private static ColumnFamilyOptions fifo() {
    return new ColumnFamilyOptions()
        .setCompactionStyle(CompactionStyle.FIFO)
        .setCompactionOptionsFIFO(
            new CompactionOptionsFIFO().setMaxTableFilesSize(8L << 30).setAllowCompaction(true));
  }

  private static ColumnFamilyOptions hashed() {
    return new ColumnFamilyOptions()
        .setMergeOperator(new StringAppendOperator(','))
        .useFixedLengthPrefixExtractor(4)
        .setMemTableConfig(new HashLinkedListMemTableConfig().setBucketCount(5000))
        .setTableFormatConfig(new BlockBasedTableConfig().setIndexType(IndexType.kHashSearch));
  }
}
