#include "rocktune/options/watched_file.h"

#include <gtest/gtest.h>

#include <ostream>
#include <string>

#include "rocktune/options/watched_text.h"

namespace rocktune {
namespace {

TEST(WatchedFileTest, ChecksumsAsZlib) {
  EXPECT_EQ(Crc32(""), 0u);
  EXPECT_EQ(Crc32("123456789"), 0xCBF43926u);  // the check value of CRC-32/ISO-HDLC
}

TEST(WatchedFileTest, ReadsEachSection) {
  const std::string text = WatchedText(
      "\n[Database]\n  id=ab-cd\n[DBOptions]\n\tmax_background_jobs = 4 \n# a comment\n"
      "[CFOptions \"a \"b\"]\n  write_buffer_size=1M\n[TableOptions/BlockBasedTable \"a \"b\"]\n"
      "  block_size=8192\n");
  WatchedFile file;
  ASSERT_TRUE(ParseWatchedFile(text, &file).ok()) << ParseWatchedFile(text, &file).ToString();
  EXPECT_EQ(file.database_id, "ab-cd");
  EXPECT_EQ(file.options.db, (OptionMaps::Map{{"max_background_jobs", "4"}}));
  EXPECT_EQ(file.options.families.size(), 1u);
  EXPECT_EQ(file.options.families["a \"b"].cf, (OptionMaps::Map{{"write_buffer_size", "1M"}}));
  EXPECT_EQ(file.options.families["a \"b"].table, (OptionMaps::Map{{"block_size", "8192"}}));
}

TEST(WatchedFileTest, AFileWithoutOptionsIsComplete) {
  WatchedFile file;
  EXPECT_TRUE(ParseWatchedFile(WatchedText(""), &file).ok());
  EXPECT_EQ(file.options, OptionMaps());
}

TEST(WatchedFileTest, EveryPrefixIsIncomplete) {
  const std::string text = FamilyText("write_buffer_size=1M");
  WatchedFile file;
  for (std::size_t length = 0; length < text.size(); ++length) {
    EXPECT_TRUE(ParseWatchedFile(text.substr(0, length), &file).IsIncomplete()) << length;
  }
  EXPECT_TRUE(IsComplete(text));
  EXPECT_FALSE(IsComplete(text + "\n"));
}

TEST(WatchedFileTest, EveryChangedByteIsIncomplete) {
  const std::string text = FamilyText("write_buffer_size=1M");
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    EXPECT_FALSE(IsComplete(changed)) << at;
  }
}

struct Fault {
  const char* body;
  const char* message;  // a part of it
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.message; }

class WatchedFileFaultTest : public testing::TestWithParam<Fault> {};

TEST_P(WatchedFileFaultTest, IsNamedWithItsLine) {
  WatchedFile file;
  const rocksdb::Status status = ParseWatchedFile(WatchedText(GetParam().body), &file);
  EXPECT_TRUE(status.IsInvalidArgument());
  EXPECT_NE(status.ToString().find(GetParam().message), std::string::npos) << status.ToString();
}

INSTANTIATE_TEST_SUITE_P(
    WatchedFile, WatchedFileFaultTest,
    testing::Values(Fault{"a=1\n", "line 2: a is in no section"},
                    Fault{"[DBOptions]\na=1\na=2\n", "line 4: a comes twice"},
                    Fault{"[DBOptions]\n[DBOptions]\n", "line 3: section [DBOptions] comes twice"},
                    Fault{"[DBOptions]\na=\n", "line 3: a has no value"},
                    Fault{"[DBOptions]\nwords\n", "line 3: it is neither a heading nor NAME=VALUE"},
                    Fault{"[DBOptions\n", "line 2: its heading has no ']'"},
                    Fault{"[CFOptions]\n", "line 2: there is no section [CFOptions]"},
                    Fault{"[CFOptions \"\n", "line 2: its heading has no ']'"},
                    Fault{"[CFOptions \"]\n", "line 2: there is no section"},
                    Fault{"[TableOptions/PlainTable \"default\"]\n", "line 2: there is no section"},
                    Fault{"[Version]\n", "line 2: there is no section [Version]"},
                    Fault{"[Database]\nid=1\nid=2\n", "line 4: section [Database] has one id"},
                    Fault{"[Database]\nname=1\n", "line 3: section [Database] has one id"}));

TEST(WatchedFileTest, AnotherFirstLineIsRefused) {
  std::string text = WatchedText("");
  text = text.substr(text.find('\n') + 1);
  WatchedFile file;
  EXPECT_FALSE(ParseWatchedFile(text, &file).ok());
  const std::string other = "# rocktune options, format 2\n";
  std::ostringstream end;
  end << other << "# end crc32=" << std::hex << std::setw(8) << std::setfill('0') << Crc32(other) << "\n";
  EXPECT_TRUE(ParseWatchedFile(end.str(), &file).IsInvalidArgument());
}

}  // namespace
}  // namespace rocktune
