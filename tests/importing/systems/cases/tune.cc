#include <rocksdb/options.h>
void Tune(rocksdb::Options& options) {
  options.write_buffer_size = 64 << 20;
  options.max_background_jobs = std::thread::hardware_concurrency();
  options.compression = rocksdb::kZSTD;
  options.level0_file_num_compaction_trigger = 2 * 4;
}
