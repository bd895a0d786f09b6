#include "rocktune/compaction_governor.h"

#include "rocktune/governor/governed_device.h"
#include "rocktune/governor/governed_families.h"
#include "rocktune/governor/governor_impl.h"

// The static functions of CompactionGovernor.

namespace rocktune {
namespace {

GovernorOptions WithDefaults(const GovernorOptions& given) {
  GovernorOptions options = given;
  if (options.max_flush_bytes_per_s == 0) {
    options.max_flush_bytes_per_s = MaxFlushBytesPerSecond(options.device_bytes_per_s);
  }
  if (options.device_read_bytes == nullptr) {
    options.device_read_bytes = ProcessReadBytes;
  }
  if (options.clock == nullptr) {
    options.clock = rocksdb::SystemClock::Default();
  }
  return options;
}

}  // namespace

rocksdb::Status CompactionGovernor::Check(const GovernorOptions& options) {
  const auto is_share = [](double share) { return share > 0 && share <= 1; };
  if (options.interval_us == 0) {
    return rocksdb::Status::InvalidArgument("interval_us is 0; it must be above 0");
  }
  if (!is_share(options.watermarks.flush_share) || !is_share(options.watermarks.total_share)) {
    return rocksdb::Status::InvalidArgument(
        "watermarks flush_share and total_share must be above 0 and at most 1");
  }
  if (!is_share(options.min_compaction_share)) {
    return rocksdb::Status::InvalidArgument("min_compaction_share must be above 0 and at most 1");
  }
  return rocksdb::Status::OK();
}

rocksdb::Status CompactionGovernor::Create(const GovernorOptions& options,
                                           std::unique_ptr<CompactionGovernor>* governor) {
  rocksdb::Status status = Check(options);
  if (status.ok()) {
    governor->reset(new GovernorImpl(WithDefaults(options)));
  }
  return status;
}

rocksdb::Status CompactionGovernor::Recover(rocksdb::DB* db,
                                            const std::vector<rocksdb::ColumnFamilyHandle*>& families) {
  return GovernedFamilies::Recover(db, families);
}

}  // namespace rocktune
