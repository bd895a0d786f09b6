#include "rocktune/flsm/flsm_files.h"

#include <gtest/gtest.h>

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
