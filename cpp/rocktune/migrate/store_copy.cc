#include "rocktune/migrate/store_copy.h"

#include <rocksdb/sst_file_writer.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "rocktune/migrate/compaction.h"
#include "rocktune/migrate/source_store.h"
#include "rocktune/migrate/verification.h"
#include "rocktune/util/migration_marker.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

constexpr const char* kTable = "/ROCKTUNE_TABLE";  // the table that is being written
constexpr uint64_t kMinTableBytes = 64 << 10;
constexpr uint64_t kMaxTableBytes = 1 << 30;  // a kill loses at most one table

// Returns the size of the tables of the last level, which is where ingested tables go.
uint64_t TableBytes(const rocksdb::ColumnFamilyOptions& options) {
  const double growth = std::pow(options.target_file_size_multiplier, std::max(0, options.num_levels - 2));
  const double bytes = static_cast<double>(options.target_file_size_base) * growth;
  return std::clamp(static_cast<uint64_t>(std::min(bytes, static_cast<double>(kMaxTableBytes))),
                    kMinTableBytes, kMaxTableBytes);
}

rocksdb::CompressionType LastCompression(const rocksdb::ColumnFamilyOptions& options) {
  if (options.bottommost_compression != rocksdb::kDisableCompressionOption) {
    return options.bottommost_compression;
  }
  return options.compression_per_level.empty() ? options.compression : options.compression_per_level.back();
}

// Returns an upper estimate of the space that a copy takes, in bytes.
uint64_t SpaceOf(const SourceStore& source) {
  uint64_t bytes = 0;
  for (std::size_t index = 0; index < source.families().size(); ++index) {
    const rocksdb::ColumnFamilyOptions& wanted = source.families()[index].wanted;
    const FamilySize& size = source.sizes()[index];
    const uint64_t once = LastCompression(wanted) == rocksdb::kNoCompression
                              ? std::max(size.raw_bytes, size.stored_bytes)
                              : size.stored_bytes;
    // A compaction moves values into blob files, and removes the tables only at its end.
    bytes += wanted.enable_blob_files ? 2 * once : once;
  }
  return bytes;
}

// Returns the size of the files of a directory.
uint64_t BytesIn(rocksdb::Env* env, const std::string& directory) {
  std::vector<rocksdb::Env::FileAttributes> files;
  env->GetChildrenFileAttributes(directory, &files).PermitUncheckedError();
  uint64_t bytes = 0;
  for (const rocksdb::Env::FileAttributes& file : files) {
    bytes += file.size_bytes;
  }
  return bytes;
}

std::string MarkerText(const MigrationRequest& request, const SourceStore& source) {
  const std::size_t options = std::hash<std::string>()(ToJson(request.wanted).dump());
  return nlohmann::json{
      {"migration", "copy"}, {"source", request.source}, {"state", source.State()}, {"options", options}}
      .dump();
}

// The target while it is filled.
class Copier {
 public:
  Copier(const MigrationRequest& request, const SourceStore& source, rocksdb::Env* env)
      : source_(source), env_(env), directory_(request.target) {
    options_ = WorkingOptions(request, env);
    options_.create_if_missing = true;
    options_.create_missing_column_families = true;
    std::vector<rocksdb::ColumnFamilyDescriptor> descriptors;
    descriptors.reserve(source.families().size());
    for (const MigratedFamily& family : source.families()) {
      descriptors.emplace_back(family.name, WorkingOptions(family.wanted));
    }
    DeleteTable();
    target_.Open(options_, directory_, descriptors);
  }

  void Copy(const Progress& progress) {
    ByteProgress copied("copy", source_.RawBytes(), progress);
    uint64_t before = 0;
    for (std::size_t index = 0; index < source_.families().size(); ++index) {
      CopyFamily(index, &copied);
      before += source_.sizes()[index].raw_bytes;
      copied.Reach(before);  // replaced entries are not copied
    }
  }

  // Compacts the families whose tables lie in level 0, or whose values belong into blob files.
  void Settle(const Progress& progress) {
    for (std::size_t index = 0; index < source_.families().size(); ++index) {
      const rocksdb::ColumnFamilyOptions& wanted = source_.families()[index].wanted;
      std::string level0;
      target_.db()->GetProperty(target_.family(index), "rocksdb.num-files-at-level0", &level0);
      const bool is_wide = std::stoi("0" + level0) >= std::max(2, wanted.level0_file_num_compaction_trigger);
      if (wanted.enable_blob_files || is_wide) {
        CompactWhole(target_, index, std::nullopt, "settle", source_.sizes()[index].raw_bytes, progress);
      }
    }
  }

  void Close() { target_.Close(); }

 private:
  // Copies what the target's family lacks.
  void CopyFamily(std::size_t index, ByteProgress* copied) {
    const MigratedFamily& family = source_.families()[index];
    EntryStream from(source_.store().db(), source_.store().family(index), family, family.reversed());
    if (const std::optional<std::string> last = LastKey(index)) {
      from.SeekAfter(*last);
    }
    while (from.Valid()) {
      WriteTable(index, &from, copied);
    }
    from.Check();
  }

  std::optional<std::string> LastKey(std::size_t index) const {
    EntryStream last(target_.db(), target_.family(index), source_.families()[index], false);
    last.SeekToLast();
    last.Check();
    return last.Valid() ? std::optional(last.key().ToString()) : std::nullopt;
  }

  // Moves entries into one table and ingests it.
  void WriteTable(std::size_t index, EntryStream* from, ByteProgress* copied) {
    const rocksdb::ColumnFamilyOptions& family = source_.families()[index].wanted;
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(options_),
                                  rocksdb::Options(options_, WorkingOptions(family)), target_.family(index));
    const std::string path = directory_ + kTable;
    rocksdb::Status status = writer.Open(path);
    const uint64_t max_bytes = TableBytes(family);
    for (; status.ok() && from->Valid() && writer.FileSize() < max_bytes; from->Next()) {
      status = from->IsWide() ? PutColumns(&writer, from->key(), from->columns())
                              : writer.Put(from->key(), from->value());
      copied->Add(from->Bytes());
    }
    from->Check();
    if (status.ok()) {
      status = writer.Finish();
    }
    if (status.ok()) {
      rocksdb::IngestExternalFileOptions ingestion;
      ingestion.move_files = true;
      status = target_.db()->IngestExternalFile(target_.family(index), {path}, ingestion);
    }
    Check(index, status);
  }

  void Check(std::size_t index, const rocksdb::Status& status) {
    const std::string action =
        "column family '" + source_.families()[index].name + "' cannot be written to " + directory_;
    if (status.IsNotSupported()) {
      throw RunError(RunFailure::kInvalid, action + ": " + status.ToString());
    }
    if (!status.ok()) {
      DeleteTable();  // gives a full disk some room
      throw StoreError(action, status);
    }
  }

  void DeleteTable() {
    if (env_->FileExists(directory_ + kTable).ok()) {
      env_->DeleteFile(directory_ + kTable).PermitUncheckedError();
    }
  }

  const SourceStore& source_;
  rocksdb::Env* const env_;
  const std::string directory_;
  rocksdb::DBOptions options_;
  OpenStore target_;
};

}  // namespace

StoreCopy CopyStore(const MigrationRequest& request, rocksdb::Env* env, const Progress& progress) {
  const SourceStore source(request, env);
  StoreCopy copy;
  MigrationMarker marker(env, request.target, MarkerText(request, source));
  const rocksdb::Status begun = marker.Begin(&copy.continued);
  if (!begun.ok()) {
    throw begun.IsInvalidArgument() ? RunError(RunFailure::kInvalid, begun.getState())
                                    : StoreError(request.target + " cannot be written", begun);
  }
  const uint64_t space = SpaceOf(source);
  CheckSpace(env, request.target, space - std::min(space, BytesIn(env, request.target)));
  {
    Copier copier(request, source, env);
    copier.Copy(progress);
    copier.Settle(progress);
    copier.Close();
  }
  OpenWithNewOptions(request, request.target, source.families());
  ByteProgress verified("verify", 2 * source.RawBytes(), progress);
  const std::vector<FamilyDigest> before = DigestsOf(source.store(), source.families(), true, &verified);
  copy.families = Verified(request, request.target, source.families(), before, env, &verified);
  const rocksdb::Status finished = marker.Finish();
  if (!finished.ok()) {
    throw StoreError(request.target + " cannot be finished", finished);
  }
  return copy;
}

}  // namespace rocktune
