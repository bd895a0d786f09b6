#include "rocktune/flsm/flsm_files.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rocktune {
namespace {

// Files named by what they span, such as "ac" from key a to key c, of ten bytes each.
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

TEST(FlsmFilesTest, TheCheapestPushWithAllThatHasToGoAlong) {
  const std::vector<Example> examples = {
      {"nothing is there", {RunOf({})}, {}, "", 0},
      {"nothing is met", {RunOf({"ac", "df"})}, {RunOf({})}, "ac", 1},
      {"where least is met", {RunOf({"ac", "df"})}, {RunOf({"ab", "cc", "eg"})}, "df eg", 2},
      {"a key in common is an overlap", {RunOf({"ac"})}, {RunOf({"ce"})}, "ac ce", 2},
      {"an older run's file goes alone where nothing is met",
       {RunOf({"ad"}), RunOf({"ab", "ef"})},
       {},
       "ab",
       1},
      {"of equally cheap ones what moves less",
       {RunOf({"bc"}), RunOf({"ce"})},
       {RunOf({"ab", "de"})},
       "ce de",
       2},
      {"what is older goes along, and widens what is met",
       {RunOf({"bc"}), RunOf({"ce"}, true)},
       {RunOf({"ab", "de"})},
       "bc ce ab de",
       2},
      {"two runs together where that is cheaper",
       {RunOf({"bc"}), RunOf({"bc"})},
       {RunOf({"ac"})},
       "bc bc ac",
       1.5},
      {"all runs that are merged with",
       {RunOf({"bc"})},
       {RunOf({"ab"}), RunOf({"aa", "ce"})},
       "bc ab aa ce",
       4},
      {"versions of a key stay together, however many files have them",
       {RunOf({"ab", "bc", "cd", "ee"}), RunOf({"xz"})},
       {RunOf({"xz", "zz"})},
       "ee",
       1},
      {"in a run that the push comes upon as well",
       {RunOf({"cd"}), RunOf({"ab", "bc", "cf", "fg"})},
       {RunOf({"ab", "hz"}), RunOf({"aa", "hi"})},
       "cd ab bc cf fg ab aa",
       1.4},
      {"a sealed run pushes nothing itself",
       {RunOf({"ab"}), RunOf({"xz"}, true)},
       {RunOf({"ab"})},
       "ab ab",
       2},
      {"but goes along", {RunOf({"ab"}), RunOf({"bc"}, true)}, {}, "ab bc", 1},
      {"unless all are sealed", {RunOf({"ab"}, true)}, {}, "ab", 1},
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
