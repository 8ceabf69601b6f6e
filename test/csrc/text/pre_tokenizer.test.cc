// Texts are split as tokenizer.json says, for every behaviour. Faults put into the code: MergedWithNext read
// as MergedWithPrevious; Contiguous joining gaps; "first" applied to every piece; a prefix space put before
// another space.
#include "text/pre_tokenizer.h"

#include "check.h"
#include "text/patterns.h"

namespace text_pre_tokenizer_test {

using namespace hone;
using namespace hone::test;
using text::PreTokenizer;
using text::PreTokenizerRules;

namespace {

PreTokenizer of(const std::string& json) {
  return PreTokenizer(PreTokenizerRules::from_json(Json::parse(json, "test"), "pre_tokenizer"));
}

std::string split(const std::string& json, const std::string& text, bool first = true) {
  std::string scratch, out;
  std::vector<std::string_view> pieces;
  of(json).split(text, first, scratch, pieces);
  for (const std::string_view piece : pieces) out += std::string(piece) + "|";
  return out;
}

std::string literal(const std::string& behavior) {
  return R"({"type": "Split", "pattern": {"String": "-"}, "behavior": ")" + behavior + R"(", "invert": false})";
}

std::string metaspace(const std::string& scheme, bool split) {
  return R"({"type": "Metaspace", "replacement": "_", "prepend_scheme": ")" + scheme + R"(", "split": )" +
         (split ? "true}" : "false}");
}

std::string regex(const std::string& pattern, const std::string& rest) {
  return R"({"type": "Split", "pattern": {"Regex": )" + Json::string(pattern).dump() + "}, " + rest + "}";
}

}  // namespace

TEST(a_string_is_split_at_by_behaviour) {
  const std::string text = "-a--b-c";
  EXPECT_EQ(split(literal("Removed"), text), "a|b|c|");
  EXPECT_EQ(split(literal("Isolated"), text), "-|a|-|-|b|-|c|");
  EXPECT_EQ(split(literal("MergedWithPrevious"), text), "-|a-|-|b-|c|");
  EXPECT_EQ(split(literal("MergedWithNext"), text), "-a|-|-b|-c|");
  EXPECT_EQ(split(literal("Contiguous"), text), "-|a|--|b|-|c|");
  EXPECT_EQ(split(literal("Removed"), "--"), "");
  EXPECT_EQ(split(literal("Isolated"), ""), "");
}

TEST(digits_are_cut_one_by_one_or_together) {
  EXPECT_EQ(split(R"({"type": "Digits", "individual_digits": true})", "a12b\xD9\xA4"), "a|1|2|b|\xD9\xA4|");
  EXPECT_EQ(split(R"({"type": "Digits", "individual_digits": false})", "a12b\xD9\xA4"), "a|12|b|\xD9\xA4|");
}

TEST(metaspace_stands_for_spaces) {
  EXPECT_EQ(split(metaspace("always", true), "a b  c", false), "_a|_b|_|_c|");
  EXPECT_EQ(split(metaspace("always", false), " a b"), "_a_b|");
  EXPECT_EQ(split(metaspace("first", false), "a b", true), "_a_b|");
  EXPECT_EQ(split(metaspace("first", false), "a b", false), "a_b|");
  EXPECT_EQ(split(metaspace("never", true), "a b"), "a|_b|");
  EXPECT_EQ(split(R"({"type": "Metaspace", "replacement": "_", "add_prefix_space": true})", "a b"), "_a|_b|");
  EXPECT_EQ(split(R"({"type": "Metaspace", "replacement": "_", "add_prefix_space": false})", "a b"), "a|_b|");
  EXPECT_EQ(split(R"({"type": "Sequence", "pretokenizers": [)" + literal("Isolated") + "," + metaspace("first", false) + "]}",
                  "a-b c"),
            "_a|-|b_c|");
}

TEST(byte_level_is_told_and_may_add_a_space) {
  const std::string plain = R"({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true})";
  const std::string prefix = R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": true, "use_regex": false})";
  EXPECT_TRUE(of(plain).byte_level() && !of("null").byte_level() && !of(literal("Isolated")).byte_level());
  EXPECT_EQ(split(plain, "It's me"), "It|'s| me|");
  EXPECT_EQ(split(prefix, "a b"), " a b|");
  EXPECT_EQ(split(prefix, " a"), " a|");
  EXPECT_EQ(split(R"({"type": "Sequence", "pretokenizers": [)" + literal("Removed") + "," + prefix + "]}", "a- b"), " a| b|");
  EXPECT_EQ(split("null", "a b"), "a b|");
}

TEST(known_patterns_isolate_however_it_is_written) {
  const std::string isolated = R"("behavior": "Isolated", "invert": false)", removed = R"("behavior": "Removed", "invert": true)";
  for (const char* pattern : kPatterns) {
    if (text::scanner_of(pattern)("a", 0) == 1) {
      EXPECT_EQ(split(regex(pattern, isolated), "a b!"), "a| b|!|");
      EXPECT_EQ(split(regex(pattern, removed), "a b!"), "a| b|!|");
    } else {
      EXPECT_EQ(split(regex(pattern, isolated), "a 12\u4E2D!"), text::scanner_of(pattern)("1", 0) ? "a |12|\u4E2D!|" : "a 12|\u4E2D|!|");
      EXPECT_EQ(split(regex(pattern, removed), "a 12\u4E2D!"), text::scanner_of(pattern)("1", 0) ? "12|" : "\u4E2D|");
    }
  }
}

}  // namespace text_pre_tokenizer_test
