#pragma once

#include <gtest/gtest.h>
#include <rocksdb/env.h>
#include <rocksdb/sst_file_writer.h>
#include <rocksdb/utilities/checkpoint.h>
#include <rocksdb/write_batch.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "rocktune/flsm/fake_flsm_operations.h"
#include "rocktune/flsm_store.h"
#include "rocktune/util/fake_crash.h"

namespace rocktune {

// The store of FlsmCrashTest, and the process that is killed.

inline constexpr const char* kFiles = "files";
inline constexpr const char* kFamilies = "families";

inline rocksdb::Options SmallCrashOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.create_if_missing = true;
  options.env = env;
  options.write_buffer_size = 64 << 10;
  options.target_file_size_base = 64 << 10;
  options.compression = rocksdb::kNoCompression;
  return options;
}

// Returns the families of a case, without the short-lived one.
inline std::vector<std::string> FamiliesOf(const CrashCase& of) {
  return of.variant == kFamilies
             ? std::vector<std::string>{rocksdb::kDefaultColumnFamilyName, "events", "users"}
             : std::vector<std::string>{rocksdb::kDefaultColumnFamilyName};
}

// Returns the layout of a family, which each family has for itself.
inline FlsmOptions SmallCrashLayout(const CrashCase& of, const std::string& family) {
  FlsmOptions layout;
  layout.size_ratio = 3;
  layout.policies = {3, 2, 1};
  layout.max_merge_bytes = 128 << 10;
  layout.granularity = of.variant == kFiles ? FlsmGranularity::kFiles : FlsmGranularity::kLevels;
  if (family == "events") {
    layout.size_ratio = 4;
    layout.policies = {4, 1};
    layout.granularity = FlsmGranularity::kFiles;
  } else if (family == "users") {
    layout.size_ratio = 2;
    layout.policies = {1};
    layout.max_merge_bytes = 0;
  } else if (family == kShortLived) {
    layout.size_ratio = 5;
    layout.level1_bytes = 100 << 10;
  }
  return layout;
}

// A store with the handles of its families, by name.
struct OpenedStore {
  std::unique_ptr<FlsmStore> store;
  std::map<std::string, rocksdb::ColumnFamilyHandle*> families;
};

// Opens the store of a case, with the families of the case and those that it has.
inline rocksdb::Status OpenSmall(rocksdb::Env* env, const CrashCase& of, OpenedStore* opened) {
  rocksdb::Options options = SmallCrashOptions(env);
  options.create_missing_column_families = true;
  std::vector<std::string> names;
  // Fails if there is no store yet.
  rocksdb::DB::ListColumnFamilies(options, of.directory, &names).PermitUncheckedError();
  std::set<std::string> all(names.begin(), names.end());
  const std::vector<std::string> asked = FamiliesOf(of);
  all.insert(asked.begin(), asked.end());
  std::vector<FlsmFamily> families;
  for (const std::string& name : all) {
    families.push_back({name, options, SmallCrashLayout(of, name)});
  }
  std::vector<rocksdb::ColumnFamilyHandle*> handles;
  rocksdb::Status status = FlsmStore::Open(options, of.directory, families, &handles, &opened->store);
  for (std::size_t family = 0; family < handles.size() && status.ok(); ++family) {
    opened->families[families[family].name] = handles[family];
  }
  return status;
}

// Returns the prefix of the paths of a store's checkpoints; each ends in the number of its operation.
inline std::string CopyPrefix(const CrashCase& of) { return of.directory + "-copy-"; }

// Returns the store's checkpoints by the numbers of their operations, without half-made ones.
inline std::map<uint64_t, std::string> CopiesOf(const CrashCase& of) {
  std::map<uint64_t, std::string> copies;
  for (const auto& entry : std::filesystem::directory_iterator(testing::TempDir())) {
    const std::string path = entry.path().string();
    const std::string prefix = std::filesystem::path(CopyPrefix(of)).string();
    if (path.starts_with(prefix) && entry.path().extension().empty()) {
      copies[std::stoull(path.substr(prefix.size()))] = path;
    }
  }
  return copies;
}

// Removes a checkpoint, so that no half of it is left for CopiesOf if the process is killed.
inline void RemoveCopy(const std::string& path) {
  std::filesystem::remove_all(path + ".trash");
  if (std::filesystem::exists(path)) {
    std::filesystem::rename(path, path + ".trash");
    std::filesystem::remove_all(path + ".trash");
  }
}

inline rocksdb::Status MakeCopy(FlsmStore* store, const std::string& path, uint64_t log_bytes_for_flush) {
  rocksdb::Checkpoint* raw = nullptr;
  rocksdb::Status status = rocksdb::Checkpoint::Create(store, &raw);
  const std::unique_ptr<rocksdb::Checkpoint> checkpoint(raw);
  return status.ok() ? checkpoint->CreateCheckpoint(path, log_bytes_for_flush) : status;
}

inline void ExpectOk(const rocksdb::Status& status) { ASSERT_TRUE(status.ok()) << status.ToString(); }

// Does the operations on an opened store. Each can be repeated after a kill.
class FlsmCrashWorker {
 public:
  FlsmCrashWorker(const CrashCase& of, OpenedStore* opened) : of_(of), opened_(opened) {
    write_.sync = of.synced;
  }

  void Do(const FlsmOperation& operation) {
    switch (operation.kind()) {
      case FlsmOperation::Kind::kWrite:
        return Write(operation);
      case FlsmOperation::Kind::kIngest:
        return Ingest(operation);
      case FlsmOperation::Kind::kCheckpoint:
        return Copy(operation);
      case FlsmOperation::Kind::kChangePolicy:
        return ChangePolicy(operation.number());
      case FlsmOperation::Kind::kFamily:
        return CreateOrDrop(operation.HasShortLived());
    }
  }

 private:
  void Write(const FlsmOperation& operation) {
    rocksdb::WriteBatch batch;
    for (const FlsmChange& change : operation.changes()) {
      rocksdb::ColumnFamilyHandle* family = opened_->families.at(change.family);
      ExpectOk(!change.end.empty() ? batch.DeleteRange(family, change.key, change.end)
               : change.value      ? batch.Put(family, change.key, *change.value)
                                   : batch.Delete(family, change.key));
    }
    ExpectOk(opened_->store->Write(write_, &batch));
  }

  void Ingest(const FlsmOperation& operation) {
    rocksdb::Status status;
    do {
      status = WriteAndIngest(operation);
    } while (status.IsTryAgain());  // RocksDB 7.8; see docs/design/rocksdb-faults.md
    ExpectOk(status);
  }

  // Ingests the tables of all families together.
  rocksdb::Status WriteAndIngest(const FlsmOperation& operation) {
    std::map<std::string, std::vector<FlsmChange>> by_family;
    for (const FlsmChange& change : operation.changes()) {
      by_family[change.family].push_back(change);
    }
    std::filesystem::create_directories(of_.directory + "-tables");
    std::vector<rocksdb::IngestExternalFileArg> arguments;
    for (const auto& [name, changes] : by_family) {
      const std::string table = of_.directory + "-tables/" + name;
      // A killed process may have linked it into the store, whose table would change.
      std::filesystem::remove(table);
      rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), SmallCrashOptions(opened_->store->GetEnv()));
      ExpectOk(writer.Open(table));
      for (const FlsmChange& change : changes) {
        ExpectOk(writer.Put(change.key, *change.value));
      }
      ExpectOk(writer.Finish());
      rocksdb::IngestExternalFileArg& argument = arguments.emplace_back();
      argument.column_family = opened_->families.at(name);
      argument.external_files = {table};
      argument.options.move_files = operation.number() % 2 == 0;
    }
    return opened_->store->IngestExternalFiles(arguments);
  }

  void Copy(const FlsmOperation& operation) {
    const std::map<uint64_t, std::string> before = CopiesOf(of_);
    const std::string path = CopyPrefix(of_) + std::to_string(operation.number());
    // Always or never: to decide, RocksDB 11.8 reads sizes of logs that another thread may be deleting.
    const uint64_t log_bytes_for_flush = operation.number() % 2 == 0 ? 0 : UINT64_MAX;
    if (!before.contains(operation.number())) {  // or it was made before the kill
      ExpectOk(MakeCopy(opened_->store.get(), path, log_bytes_for_flush));
    }
    for (const auto& [number, older] : before) {
      if (number != operation.number()) {
        RemoveCopy(older);
      }
    }
  }

  void ChangePolicy(uint64_t number) {
    auto family = opened_->families.begin();
    std::advance(family, static_cast<std::ptrdiff_t>(number % opened_->families.size()));
    const FlsmShape shape = opened_->store->Shape(family->second);
    const auto transition = shape.granularity == FlsmGranularity::kFiles
                                ? FlsmTransition::kFlexible  // with files lazy is refused
                                : static_cast<FlsmTransition>(number % 3);
    const int policy = 1 + static_cast<int>(number) % shape.size_ratio;
    ExpectOk(opened_->store->SetPolicy(family->second, 1 + static_cast<int>(number % 4), policy, transition));
  }

  void CreateOrDrop(bool creates) {
    const auto found = opened_->families.find(kShortLived);
    if (creates == (found != opened_->families.end())) {
      return;  // it was done before the kill
    }
    if (creates) {
      const rocksdb::Options options = SmallCrashOptions(opened_->store->GetEnv());
      rocksdb::ColumnFamilyHandle** made = &opened_->families[kShortLived];
      ExpectOk(
          opened_->store->CreateColumnFamily(options, kShortLived, SmallCrashLayout(of_, kShortLived), made));
    } else {
      ExpectOk(opened_->store->DropColumnFamily(found->second));
      ExpectOk(opened_->store->DestroyColumnFamilyHandle(found->second));
      opened_->families.erase(found);
    }
  }

  const CrashCase of_;
  OpenedStore* const opened_;
  rocksdb::WriteOptions write_;
};

}  // namespace rocktune
