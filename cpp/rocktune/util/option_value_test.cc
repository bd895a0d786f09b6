#include "rocktune/util/option_value.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

namespace rocktune {
namespace {

TEST(SameOptionValueTest, AcceptsEveryFormOfANumber) {
  EXPECT_TRUE(SameOptionValue("4194304", "4194304"));
  EXPECT_TRUE(SameOptionValue("4M", "4194304"));        // 4 * 2^20
  EXPECT_TRUE(SameOptionValue("64k", "65536"));         // 64 * 2^10
  EXPECT_TRUE(SameOptionValue("1G", "1073741824"));     // 2^30
  EXPECT_TRUE(SameOptionValue("2T", "2199023255552"));  // 2 * 2^40
  EXPECT_TRUE(SameOptionValue("-1", "-1"));
  EXPECT_TRUE(SameOptionValue(" 7 ", "7"));
  EXPECT_TRUE(SameOptionValue("10", "10.000000"));
  EXPECT_TRUE(SameOptionValue("0.25", "0.250000"));
}

TEST(SameOptionValueTest, RefusesMisreadNumbers) {
  EXPECT_FALSE(SameOptionValue("-1", "18446744073709551615"));
  EXPECT_FALSE(SameOptionValue("0x10", "0"));
  EXPECT_FALSE(SameOptionValue("1e6", "1"));
  EXPECT_FALSE(SameOptionValue("7x", "7"));
  EXPECT_FALSE(SameOptionValue("1.5", "1"));
  EXPECT_FALSE(SameOptionValue("4294967297", "1"));  // 2^32 + 1 in 32 bits
  EXPECT_FALSE(SameOptionValue("16777216T", "0"));   // 2^64
  EXPECT_FALSE(SameOptionValue("", "0"));
}

TEST(SameOptionValueTest, AcceptsBothFormsOfABoolean) {
  EXPECT_TRUE(SameOptionValue("1", "true"));
  EXPECT_TRUE(SameOptionValue("false", "false"));
  EXPECT_TRUE(SameOptionValue("0", "false"));
  EXPECT_FALSE(SameOptionValue("0", "true"));
  EXPECT_FALSE(SameOptionValue("yes", "true"));
}

TEST(SameOptionValueTest, ComparesOnlyGivenNestedOptions) {
  EXPECT_TRUE(SameOptionValue("{level=3;}", "max_dict_bytes=0;level=3;strategy=0;"));
  EXPECT_TRUE(SameOptionValue("level=3;strategy=0;", "max_dict_bytes=0;level=3;strategy=0;"));
  EXPECT_FALSE(SameOptionValue("{level=4;}", "max_dict_bytes=0;level=3;strategy=0;"));
  EXPECT_FALSE(SameOptionValue("{speed=3;}", "max_dict_bytes=0;level=3;strategy=0;"));
}

TEST(SameOptionValueTest, ComparesOnlyGivenListElements) {
  EXPECT_TRUE(SameOptionValue("bloomfilter:10", "bloomfilter:10:false"));
  EXPECT_TRUE(SameOptionValue("bloomfilter:10.0:0", "bloomfilter:10:false"));
  EXPECT_TRUE(SameOptionValue("kNoCompression:kZSTD", "kNoCompression:kZSTD"));
  EXPECT_FALSE(SameOptionValue("bloomfilter:9", "bloomfilter:10:false"));
  EXPECT_FALSE(SameOptionValue("1:2:3", "1:2"));
}

TEST(SameOptionValueTest, AcceptsTheNameOfAnObject) {
  const std::string read = "{id=ribbonfilter:9:0;bloom_before_level=0;}";
  EXPECT_TRUE(SameOptionValue("ribbonfilter:9", read));
  EXPECT_TRUE(SameOptionValue("ribbonfilter:9:0", read));
  EXPECT_TRUE(SameOptionValue(read, read));
  EXPECT_FALSE(SameOptionValue("ribbonfilter:8", read));
  EXPECT_FALSE(SameOptionValue("bloomfilter:9", read));
}

TEST(ParseOptionBytesTest, ParsesDecimalsWithUnits) {
  EXPECT_EQ(ParseOptionBytes("8388608"), 8388608u);
  EXPECT_EQ(ParseOptionBytes("8M"), 8388608u);
  EXPECT_EQ(ParseOptionBytes("0"), 0u);
  EXPECT_EQ(ParseOptionBytes("-1"), std::nullopt);
  EXPECT_EQ(ParseOptionBytes("0x10"), std::nullopt);
  EXPECT_EQ(ParseOptionBytes("M"), std::nullopt);
  EXPECT_EQ(ParseOptionBytes("18446744073709551616"), std::nullopt);
}

}  // namespace
}  // namespace rocktune
