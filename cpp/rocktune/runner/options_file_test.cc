#include "rocktune/runner/options_file.h"

#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "rocktune/runner/run_error.h"
#include "rocktune/util/rocksdb_compat.h"

namespace rocktune {
namespace {

class OptionsFileTest : public testing::Test {
 protected:
  OptionsFileTest() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rocktune-options-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
    path_ = directory_ / "OPTIONS";
  }
  ~OptionsFileTest() override { std::filesystem::remove_all(directory_); }

  // Returns the OPTIONS file of a real database with two column families.
  std::string RealFile() {
    const std::string database = (directory_ / "db").string();
    rocksdb::Options options;
    options.create_if_missing = true;
    options.write_buffer_size = 3 << 20;
    std::unique_ptr<rocksdb::DB> db;
    EXPECT_TRUE(OpenDatabase(options, database, &db).ok());
    rocksdb::ColumnFamilyHandle* handle = nullptr;
    options.num_levels = 4;
    EXPECT_TRUE(db->CreateColumnFamily(options, "second", &handle).ok());
    EXPECT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    db.reset();
    std::filesystem::path newest;
    for (const auto& entry : std::filesystem::directory_iterator(database)) {
      if (entry.path().filename().string().starts_with("OPTIONS-") && entry.path() > newest) {
        newest = entry.path();
      }
    }
    std::ostringstream text;
    text << std::ifstream(newest).rdbuf();
    return text.str();
  }

  void Write(const std::string& text) const { std::ofstream(path_, std::ios::binary) << text; }

  std::string Refusal() const {
    try {
      ReadOptionsFile(path_.string());
    } catch (const RunError& error) {
      EXPECT_EQ(error.failure(), RunFailure::kInvalid);
      EXPECT_NE(std::string(error.what()).find(path_.string()), std::string::npos) << error.what();
      EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
      return error.what();
    }
    return "";
  }

  void ExpectRefused(const std::string& text, const std::string& reason) const {
    Write(text);
    const std::string refusal = Refusal();
    EXPECT_NE(refusal.find(reason), std::string::npos) << "refused with: " << refusal;
  }

  static std::string Replaced(const std::string& text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return std::string(text).replace(at, from.size(), to);
  }

  std::filesystem::path directory_;
  std::filesystem::path path_;
};

TEST_F(OptionsFileTest, ReadsWhatRocksDbWrote) {
  Write(RealFile());
  const OptionsFile file = ReadOptionsFile(path_.string());
  EXPECT_EQ(file.rocksdb_version, RocksDbVersion());
  EXPECT_TRUE(file.ignored.empty());
  ASSERT_EQ(file.column_families.size(), 2u);
  EXPECT_EQ(file.column_families[0].first, "default");
  EXPECT_EQ(file.column_families[0].second.cf.at("write_buffer_size"), "3145728");
  EXPECT_EQ(file.column_families[1].first, "second");
  EXPECT_EQ(file.column_families[1].second.cf.at("num_levels"), "4");
  EXPECT_EQ(file.column_families[1].second.db, file.column_families[0].second.db);
  EXPECT_FALSE(file.column_families[0].second.table.contains("block_cache"));
  // A store can be opened with the options that were read.
  EXPECT_EQ(OptionsFromMaps(file.column_families[0].second).write_buffer_size, size_t{3} << 20);
}

TEST_F(OptionsFileTest, RefusesEveryBeginningOfAFile) {
  const std::string text = RealFile();
  ASSERT_TRUE(text.ends_with("\n  \n"));
  std::vector<std::size_t> lengths;
  for (std::size_t line = 0; line + 3 < text.size(); line = text.find('\n', line) + 1) {
    lengths.push_back(line);                                // between two lines
    lengths.push_back((line + text.find('\n', line)) / 2);  // within one
  }
  // The part before the second column family is a complete file with one family.
  const std::string_view whole = std::string_view(text).substr(0, text.find("[CFOptions \"second\"]"));
  const std::size_t end_of_last_option = whole.find_last_not_of(" \n") + 2;
  for (const std::size_t length : lengths) {
    if (length > end_of_last_option && length <= whole.size()) {
      continue;
    }
    Write(text.substr(0, length));
    EXPECT_NE(Refusal(), "") << "the first " << length << " of " << text.size() << " bytes were accepted";
  }
  ExpectRefused(text.substr(0, text.rfind('[')), "[TableOptions/BlockBasedTable \"second\"]");
  ExpectRefused(text.substr(0, text.size() - 5), "cut off in its last line");
}

TEST_F(OptionsFileTest, RefusesWhatIsNoOptionsFile) {
  EXPECT_NE(Refusal().find("cannot be opened"), std::string::npos);
  ExpectRefused("", "empty");
  ExpectRefused(std::string("\x7f"
                            "ELF\0\0",
                            6),
                "binary");
  ExpectRefused("hello\n", "line 1");
  ExpectRefused("[Version]\nrocksdb_version=7.8.3\n", "no section [DBOptions]");
}

TEST_F(OptionsFileTest, RefusesForeignObjectsAndNamesTheWayOut) {
  const std::string text = RealFile();
  const std::string comparator =
      Replaced(text, "comparator=leveldb.BytewiseComparator", "comparator=my.Comparator");
  ExpectRefused(comparator, "my.Comparator");
  ExpectRefused(comparator, "engine 'command'");
  const std::string merger = Replaced(text, "merge_operator=nullptr", "merge_operator=my.Merger");
  ExpectRefused(merger, "my.Merger");
  ExpectRefused(merger, "engine 'command'");
}

TEST_F(OptionsFileTest, LeavesForeignObjectsOutWhereAsked) {
  const std::string text = RealFile();
  const std::string comparator =
      Replaced(text, "comparator=leveldb.BytewiseComparator", "comparator=my.Comparator");
  Write(Replaced(comparator, "merge_operator=nullptr", "merge_operator=my.Merger"));
  const OptionsFile file = ReadOptionsFile(path_.string(), ForeignObjects::kLeaveOut);
  EXPECT_EQ(file.ignored, (std::vector<std::string>{"comparator", "merge_operator"}));
  EXPECT_EQ(file.column_families[0].second.cf.at("comparator"), "leveldb.BytewiseComparator");
  EXPECT_EQ(file.column_families[0].second.cf.at("write_buffer_size"), "3145728");
  Write(text);
  EXPECT_TRUE(ReadOptionsFile(path_.string(), ForeignObjects::kLeaveOut).ignored.empty());
}

TEST_F(OptionsFileTest, RefusesMisreadAndUnknownOptions) {
  const std::string text = RealFile();
  ExpectRefused(Replaced(text, "write_buffer_size=3145728", "write_buffer_size=-1"), "write_buffer_size");
  ExpectRefused(Replaced(text, "write_buffer_size=3145728", "write_buffer_size=0x10"), "write_buffer_size");
  ExpectRefused(Replaced(text, "write_buffer_size=3145728", "writebuffersize=3"), "writebuffersize");
}

TEST_F(OptionsFileTest, NamesWhatItLeavesOutOfAnotherVersionsFile) {
  const std::string other =
      std::regex_replace(RealFile(), std::regex("rocksdb_version=[0-9.]+"), "rocksdb_version=6.20.3");
  Write(Replaced(other, "write_buffer_size=3145728", "write_buffer_size=3145728\n  gone_since=1"));
  const OptionsFile file = ReadOptionsFile(path_.string());
  EXPECT_EQ(file.rocksdb_version, "6.20.3");
  EXPECT_EQ(file.ignored, std::vector<std::string>{"gone_since"});
  EXPECT_EQ(file.column_families[0].second.cf.at("write_buffer_size"), "3145728");
}

}  // namespace
}  // namespace rocktune
