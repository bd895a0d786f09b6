#include "rocktune/flsm/flsm_files.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace rocktune {
namespace {

// Returns a run of files with 10 bytes each, named by their key ranges: "ac" is from key a to key c.
FlsmRunFiles RunOf(const std::vector<std::string>& spans, bool sealed = false) {
  FlsmRunFiles run;
  for (const std::string& span : spans) {
    run.files.push_back({span, 10, span.substr(0, 1), span.substr(1, 1)});
  }
  run.sealed = sealed;
  return run;
}

std::string Names(const FlsmPush& push) {
  std::string names;
  for (const std::string& name : push.names) {
    names += names.empty() ? name : " " + name;
  }
  return names;
}

struct Example {
  const char* what;
  std::vector<FlsmRunFiles> from;
  std::vector<FlsmRunFiles> into;
  const char* names;
  double cost;
};

// Returns the names of a merge's pieces, of at most `max_bytes`: "ab cd / ef" are two. A piece's files of
// `into` become one file with the piece's key range.
std::string Pieces(std::vector<FlsmRunFiles> from, FlsmRunFiles into, uint64_t max_bytes) {
  std::string names;
  for (;;) {
    const std::vector<FlsmFile> piece = NextPiece(from, into, max_bytes, rocksdb::BytewiseComparator());
    if (piece.empty()) {
      return names;
    }
    FlsmFile merged = piece.front();
    names += names.empty() ? "" : " /";
    for (const FlsmFile& file : piece) {
      names += (names.empty() ? "" : " ") + file.name;
      merged.smallest = std::min(merged.smallest, file.smallest);
      merged.largest = std::max(merged.largest, file.largest);
      const auto is_file = [&file](const FlsmFile& each) { return each.name == file.name; };
      for (FlsmRunFiles& run : from) {
        std::erase_if(run.files, is_file);
      }
      std::erase_if(into.files, is_file);
    }
    merged.name = merged.smallest + merged.largest;
    const auto after = std::find_if(into.files.begin(), into.files.end(), [&merged](const FlsmFile& each) {
      return each.smallest > merged.smallest;
    });
    into.files.insert(after, merged);
  }
}

TEST(FlsmFilesTest, CutsAMergeIntoPieces) {
  EXPECT_EQ(Pieces({RunOf({})}, RunOf({"ac"}), 20), "");
  EXPECT_EQ(Pieces({RunOf({"ab", "cd", "ef"})}, RunOf({}), 20), "ab cd / ef");
  EXPECT_EQ(Pieces({RunOf({"ab", "cd", "ef"})}, RunOf({}), 1), "ab / cd / ef") << "at least one file";
  EXPECT_EQ(Pieces({RunOf({"ab", "gh"})}, RunOf({"bc", "de", "hi"}), 20), "ab bc / gh hi")
      << "what overlaps nothing stays";
  EXPECT_EQ(Pieces({RunOf({"ab", "bc", "de"})}, RunOf({}), 1), "ab bc / de") << "a shared key is not cut";
}

TEST(FlsmFilesTest, KeepsNewerEntriesAboveOlderOnesAfterEachPiece) {
  EXPECT_EQ(Pieces({RunOf({"cd"}), RunOf({"ab", "ce"})}, RunOf({}), 1), "ab / cd ce")
      << "a newer file leaves only with the older one that it overlaps";
  EXPECT_EQ(Pieces({RunOf({"ae"}), RunOf({"bc", "df"})}, RunOf({"fg"}), 1), "ae bc df fg");
  EXPECT_EQ(Pieces({RunOf({"bc"}), RunOf({"ad"})}, RunOf({}), 1), "ad / bc ad")
      << "an older file may leave first; the newer one is then merged with it";
}

TEST(FlsmFilesTest, FindsTheCheapestPush) {
  const std::vector<Example> examples = {
      {"no files", {RunOf({})}, {}, "", 0},
      {"no overlap below", {RunOf({"ac", "df"})}, {RunOf({})}, "ac", 1},
      {"least overlap below", {RunOf({"ac", "df"})}, {RunOf({"ab", "cc", "eg"})}, "df eg", 2},
      {"a shared key is an overlap", {RunOf({"ac"})}, {RunOf({"ce"})}, "ac ce", 2},
      {"an older run's file alone, without overlap below", {RunOf({"ad"}), RunOf({"ab", "ef"})}, {}, "ab", 1},
      {"of equal costs, fewer bytes", {RunOf({"bc"}), RunOf({"ce"})}, {RunOf({"ab", "de"})}, "ce de", 2},
      {"an older file is included and widens the range",
       {RunOf({"bc"}), RunOf({"ce"}, true)},
       {RunOf({"ab", "de"})},
       "bc ce ab de",
       2},
      {"two runs together if that is cheaper",
       {RunOf({"bc"}), RunOf({"bc"})},
       {RunOf({"ac"})},
       "bc bc ac",
       1.5},
      {"overlap with several runs below",
       {RunOf({"bc"})},
       {RunOf({"ab"}), RunOf({"aa", "ce"})},
       "bc ab aa ce",
       4},
      {"versions of a key in several files stay together",
       {RunOf({"ab", "bc", "cd", "ee"}), RunOf({"xz"})},
       {RunOf({"xz", "zz"})},
       "ee",
       1},
      {"versions of a key stay together in an older run too",
       {RunOf({"cd"}), RunOf({"ab", "bc", "cf", "fg"})},
       {RunOf({"ab", "hz"}), RunOf({"aa", "hi"})},
       "cd ab bc cf fg ab aa",
       1.4},
      {"a push does not begin with a sealed run",
       {RunOf({"ab"}), RunOf({"xz"}, true)},
       {RunOf({"ab"})},
       "ab ab",
       2},
      {"a push includes a sealed run's overlap", {RunOf({"ab"}), RunOf({"bc"}, true)}, {}, "ab bc", 1},
      {"a push begins with a sealed run if all are sealed", {RunOf({"ab"}, true)}, {}, "ab", 1},
  };
  for (const Example& example : examples) {
    const FlsmPush push = CheapestPush(example.from, example.into, rocksdb::BytewiseComparator());
    EXPECT_EQ(Names(push), example.names) << example.what;
    if (!push.names.empty()) {
      EXPECT_DOUBLE_EQ(push.Cost(), example.cost) << example.what;
    }
  }
}

}  // namespace
}  // namespace rocktune
