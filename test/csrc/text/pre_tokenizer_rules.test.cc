// Reading a pre-tokenizer's rules from a file, field by field, and what is refused. Faults put into the code:
// add_prefix_space preferred to prepend_scheme; Metaspace's second step left out; add_prefix_space read as
// "first"; a prefix space put before the steps of a Sequence; a step allowed after ByteLevel.
#include "text/pre_tokenizer_rules.h"

#include "check.h"
#include "core/error.h"
#include "text/patterns.h"

namespace text_pre_tokenizer_rules_test {

using namespace hone;
using namespace hone::test;
using text::PreTokenizerRules;
using Step = PreTokenizerRules::Step;
using Kind = Step::Kind;
using Behavior = PreTokenizerRules::Behavior;

namespace {

PreTokenizerRules rules_of(const std::string& json) {
  return PreTokenizerRules::from_json(Json::parse(json, "test"), "pre_tokenizer");
}

std::string regex(const std::string& pattern, const std::string& rest) {
  return R"({"type": "Split", "pattern": {"Regex": )" + Json::string(pattern).dump() + "}, " + rest + "}";
}

std::string refusal(const std::string& json) {
  try {
    rules_of(json);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kUnsupported || e.code() == Code::kFormat);
    return e.what();
  }
  return "";
}

std::string sequence(const std::string& rules) {
  return R"({"type": "Sequence", "pretokenizers": [)" + rules + "]}";
}

}  // namespace

TEST(null_has_no_step) {
  EXPECT_TRUE(rules_of("null").steps.empty() && !rules_of("null").byte_level);
}

TEST(a_split_names_its_pattern_and_what_becomes_of_it) {
  const std::pair<const char*, Behavior> behaviors[] = {{"Removed", Behavior::kRemoved},
                                                        {"Isolated", Behavior::kIsolated},
                                                        {"MergedWithPrevious", Behavior::kMergedWithPrevious},
                                                        {"MergedWithNext", Behavior::kMergedWithNext},
                                                        {"Contiguous", Behavior::kContiguous}};
  for (const auto& [name, behavior] : behaviors) {
    const PreTokenizerRules rules =
        rules_of(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": ")" + std::string(name) + "\"}");
    EXPECT_EQ(rules.steps.size(), 1u);
    EXPECT_TRUE(rules.steps[0].kind == Kind::kLiteral && rules.steps[0].behavior == behavior);
    EXPECT_EQ(rules.steps[0].literal, "-");
  }
}

TEST(a_known_pattern_is_scanned_for_isolated_or_inverted) {
  for (const char* pattern : kPatterns) {
    const PreTokenizerRules isolated = rules_of(regex(pattern, R"("behavior": "Isolated", "invert": true)"));
    const PreTokenizerRules removed = rules_of(regex(pattern, R"("behavior": "Removed", "invert": true)"));
    EXPECT_TRUE(isolated.steps.at(0).kind == Kind::kScan && isolated.steps[0].scan == text::scanner_of(pattern));
    EXPECT_TRUE(isolated.steps[0].behavior == Behavior::kIsolated);
    EXPECT_TRUE(removed.steps.at(0).behavior == Behavior::kRemoved);
    EXPECT_TRUE(refusal(regex(pattern, R"("behavior": "Removed", "invert": false)")).find("pre_tokenizer: behavior") == 0);
    EXPECT_TRUE(refusal(regex(pattern, R"("behavior": "Contiguous", "invert": true)")).find("pre_tokenizer: behavior") == 0);
  }
}

TEST(digits_are_isolated_or_kept_together) {
  EXPECT_TRUE(rules_of(R"({"type": "Digits", "individual_digits": true})").steps.at(0).behavior == Behavior::kIsolated);
  EXPECT_TRUE(rules_of(R"({"type": "Digits"})").steps.at(0).behavior == Behavior::kContiguous);
}

TEST(metaspace_rewrites_then_splits) {
  const auto of = [](const char* rest) { return rules_of(std::string(R"({"type": "Metaspace", "replacement": "_")") + rest + "}"); };
  const PreTokenizerRules both = of("");
  EXPECT_EQ(both.steps.size(), 2u);
  EXPECT_TRUE(both.steps[0].kind == Kind::kMetaspace && both.steps[0].prepend == Step::Prepend::kAlways);
  EXPECT_TRUE(both.steps[1].kind == Kind::kLiteral && both.steps[1].behavior == Behavior::kMergedWithNext);
  EXPECT_EQ(both.steps[0].literal + both.steps[1].literal, "__");
  EXPECT_EQ(of(R"(, "split": false)").steps.size(), 1u);
  const auto prepend = [&](const char* rest) { return of(rest).steps.at(0).prepend; };
  EXPECT_TRUE(prepend(R"(, "add_prefix_space": false)") == Step::Prepend::kNever);
  EXPECT_TRUE(prepend(R"(, "add_prefix_space": false, "prepend_scheme": "always")") == Step::Prepend::kAlways);
  EXPECT_TRUE(prepend(R"(, "add_prefix_space": true, "prepend_scheme": "first")") == Step::Prepend::kFirst);
  EXPECT_TRUE(prepend(R"(, "prepend_scheme": "never")") == Step::Prepend::kNever);
}

TEST(byte_level_ends_a_sequence_that_is_kept_in_order) {
  const PreTokenizerRules rules = rules_of(sequence(R"({"type": "Digits"}, {"type": "ByteLevel"})"));
  EXPECT_TRUE(rules.byte_level);
  EXPECT_EQ(rules.steps.size(), 3u);
  EXPECT_TRUE(rules.steps[0].kind == Kind::kDigits && rules.steps[1].kind == Kind::kPrefixSpace);
  EXPECT_TRUE(rules.steps[2].kind == Kind::kScan && rules.steps[2].scan == text::scan_gpt2);
  const PreTokenizerRules bare = rules_of(R"({"type": "ByteLevel", "add_prefix_space": false, "use_regex": false})");
  EXPECT_TRUE(bare.byte_level && bare.steps.empty());
}

TEST(what_is_not_understood_is_named) {
  const auto names = [](const std::string& json, const char* part) {
    const std::string found = refusal(json);
    if (found.find(part) == std::string::npos) report(__FILE__, __LINE__, found + " does not name " + part);
  };
  names(regex("\\w+", R"("behavior": "Isolated")"), "pre_tokenizer: pattern: the regular expression \"\\\\w+\"");
  names(R"({"type": "Whitespace"})", "pre_tokenizer: type is \"Whitespace\"");
  names(R"({"type": "Digits", "individual_digits": true, "base": 16})", "field \"base\" = 16");
  names(R"({"type": "Sequence", "pretokenizers": [{"type": "ByteLevel"}, {"type": "Digits"}]})",
        "pre_tokenizer.pretokenizers[1]: nothing may follow ByteLevel");
  names(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": "Isolated", "invert": true})", "invert is true");
  names(R"({"type": "Split", "pattern": {"String": ""}, "behavior": "Isolated"})", "String is missing or empty");
  names(R"({"type": "Split", "behavior": "Isolated"})", "pattern is missing");
  names(R"({"type": "Split", "pattern": {"String": "-"}, "behavior": "Merged"})", "behavior is \"Merged\"");
  names(R"({"type": "Metaspace"})", "replacement is missing");
  names(R"({})", "type is missing");
}

}  // namespace text_pre_tokenizer_rules_test
