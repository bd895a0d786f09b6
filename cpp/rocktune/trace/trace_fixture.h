#pragma once

#include <gtest/gtest.h>
#include <rocksdb/db.h>
#include <rocksdb/trace_reader_writer.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rocktune/trace/trace_import.h"
#include "rocktune/trace/trace_source.h"
#include "rocktune/util/rocksdb_compat.h"
#include "rocktune/workload/trace_file.h"

namespace rocktune {

// A directory for files of traces, which it removes.
class TraceTest : public testing::Test {
 protected:
  TraceTest()
      : directory_(testing::TempDir() + "rocktune-trace-" + std::to_string(getpid()) + "-" +
                   testing::UnitTest::GetInstance()->current_test_info()->name()) {
    std::filesystem::remove_all(directory_);
    std::filesystem::create_directories(directory_);
  }
  ~TraceTest() override { std::filesystem::remove_all(directory_); }

  std::string Path(const std::string& name) const { return directory_ + "/" + name; }

  // Writes a file and returns its path.
  std::string Write(const std::string& name, const std::string& text) const {
    std::ofstream(Path(name), std::ios::binary) << text;
    return Path(name);
  }

  // Records the operations that `work` performs on an empty database with RocksDB's own tracer, and returns
  // the path of the trace.
  template <typename Work>
  std::string Record(const Work& work) const {
    rocksdb::Options options;
    options.create_if_missing = true;
    std::unique_ptr<rocksdb::DB> database;
    EXPECT_TRUE(OpenDatabase(options, Path("db"), &database).ok());
    std::unique_ptr<rocksdb::TraceWriter> writer;
    EXPECT_TRUE(
        NewFileTraceWriter(rocksdb::Env::Default(), rocksdb::EnvOptions(), Path("trace"), &writer).ok());
    EXPECT_TRUE(database->StartTrace(rocksdb::TraceOptions(), std::move(writer)).ok());
    work(database.get());
    EXPECT_TRUE(database->EndTrace().ok());
    return Path("trace");
  }

  static std::vector<TraceEvent> Events(TraceSource* source) {
    std::vector<TraceEvent> events;
    for (TraceEvent event; source->Next(&event);) {
      events.push_back(event);
    }
    return events;
  }

  // Imports a trace into the file "operations".
  TraceSummary Import(const std::string& source, uint64_t unknown_scan_length = 100) const {
    return ImportTrace({source, Path("operations"), unknown_scan_length, ""},
                       [](const char*, double, double) {});
  }

  std::vector<TraceOperation> Imported() const {
    const TraceFile file(Path("operations"));
    TraceFile::Cursor cursor(file);
    std::vector<TraceOperation> operations;
    for (TraceOperation operation; cursor.Next(&operation);) {
      operations.push_back(operation);
    }
    return operations;
  }

 private:
  const std::string directory_;
};

}  // namespace rocktune
