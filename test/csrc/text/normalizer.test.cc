// Normalizers as tokenizer.json files define them.
#include "text/normalizer.h"

#include "check.h"

namespace text_normalizer_test {

using namespace hone;
using namespace hone::test;
using text::Normalizer;

namespace {

Normalizer of(const char* json) { return Normalizer::from_json(Json::parse(json, "test"), "normalizer"); }

std::string refusal(const char* json, Code code) {
  try {
    of(json);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == code);
    return e.what();
  }
  return "";
}

constexpr const char* kLlama = R"({"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "_"},
    {"type": "Replace", "pattern": {"String": " "}, "content": "_"}]})";

}  // namespace

TEST(steps_are_done_in_order) {
  EXPECT_EQ(of(kLlama).apply("a  b"), "_a__b");
  EXPECT_EQ(of(kLlama).apply(""), "");
  EXPECT_EQ(of(R"({"type": "NFC"})").apply("e\xCC\x81"), "\xC3\xA9");
  EXPECT_EQ(of(R"({"type": "Sequence", "normalizers": []})").apply("x"), "x");
  EXPECT_TRUE(of("null").none() && of("null").apply("x y") == "x y");
  EXPECT_TRUE(!of(kLlama).none());
}

TEST(replacing_is_from_left_to_right_without_overlap) {
  EXPECT_EQ(text::replaced("aaaaa", "aa", "b"), "bba");
  EXPECT_EQ(text::replaced("abcabc", "abc", ""), "");
  EXPECT_EQ(text::replaced("abc", "x", "y"), "abc");
  EXPECT_EQ(text::replaced("abc", "", "y"), "abc");
}

TEST(what_is_not_understood_is_named) {
  EXPECT_TRUE(refusal(R"({"type": "NFKC"})", Code::kUnsupported).find("normalizer: type is \"NFKC\"") == 0);
  EXPECT_TRUE(refusal(R"({"type": "Sequence", "normalizers": [{"type": "NFC"}, {"type": "Lowercase"}]})", Code::kUnsupported)
                  .find("normalizer.normalizers[1]: type is \"Lowercase\"") == 0);
  EXPECT_TRUE(refusal(R"({"type": "Replace", "pattern": {"Regex": "a+"}, "content": ""})", Code::kUnsupported)
                  .find("normalizer.pattern: the regular expression \"a+\"") == 0);
  EXPECT_TRUE(refusal(R"({"type": "NFC", "form": 3})", Code::kUnsupported).find("\"form\" = 3") != std::string::npos);
  EXPECT_TRUE(refusal(R"({"type": "Replace", "content": ""})", Code::kFormat).find("pattern is missing") != std::string::npos);
  EXPECT_TRUE(refusal(R"({})", Code::kFormat).find("type is missing") != std::string::npos);
}

}  // namespace text_normalizer_test
