// The ids that templates put around a text, for a single template and for nested ones. Faults put into the
// code: ids after the text put before it; an inner template's ids outside the outer one's; only a token's
// first id.
#include "text/post_processor.h"

#include "check.h"
#include "core/error.h"

namespace text_post_processor_test {

using namespace hone;
using namespace hone::test;
using text::PostProcessor;

namespace {

const std::string kText = R"({"Sequence": {"id": "A", "type_id": 0}})";

std::string special(const std::string& name) {
  return R"({"SpecialToken": {"id": ")" + name + R"(", "type_id": 0}})";
}

std::string of_template(const std::string& single) {
  return R"({"type": "TemplateProcessing", "single": [)" + single +
         R"(], "pair": [], "special_tokens": {"<s>": {"id": "<s>", "ids": [1]}, "<two>": {"id": "<two>", "ids": [2, 3]}}})";
}

PostProcessor of(const std::string& json) { return PostProcessor::from_json(Json::parse(json, "test"), "post"); }

/// The ids before and after the text, such as "1 | 2 3 ".
std::string around(const std::string& json) {
  const PostProcessor found = of(json);
  std::string out;
  for (const int32_t id : found.before) out += std::to_string(id) + " ";
  out += "| ";
  for (const int32_t id : found.behind) out += std::to_string(id) + " ";
  return out;
}

std::string refusal(Code code, const std::string& json) {
  try {
    of(json);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == code);
    return e.what();
  }
  return "none";
}

}  // namespace

TEST(a_template_puts_tokens_around_a_text) {
  EXPECT_EQ(around("null"), "| ");
  EXPECT_EQ(around(of_template(kText)), "| ");
  EXPECT_EQ(around(of_template(special("<s>") + "," + kText + "," + special("<two>"))), "1 | 2 3 ");
  EXPECT_EQ(around(of_template(special("<two>") + "," + special("<s>") + "," + kText)), "2 3 1 | ");
}

TEST(a_later_template_goes_around_an_earlier_one) {
  const std::string inner = of_template(special("<s>") + "," + kText + "," + special("<s>"));
  const std::string outer = of_template(special("<two>") + "," + kText + "," + special("<two>"));
  const std::string bytes = R"({"type": "ByteLevel", "add_prefix_space": true, "trim_offsets": false, "use_regex": true})";
  EXPECT_EQ(around(R"({"type": "Sequence", "processors": [)" + inner + "," + bytes + ",null," + outer + "]}"), "2 3 1 | 1 2 3 ");
}

TEST(what_is_not_understood_is_named) {
  EXPECT_TRUE(refusal(Code::kUnsupported, R"({"type": "BertProcessing"})").find("post: type is \"BertProcessing\"") == 0);
  EXPECT_EQ(refusal(Code::kUnsupported, of_template("")), "post.single has the text 0 times, expected once.");
  EXPECT_EQ(refusal(Code::kUnsupported, of_template(kText + "," + kText)), "post.single has the text 2 times, expected once.");
  EXPECT_EQ(refusal(Code::kUnsupported, of_template(R"({"Sequence": {"id": "B"}})")), "post.single: a Sequence that is not A.");
  EXPECT_TRUE(refusal(Code::kUnsupported, of_template(R"({"Word": 1})")).find("is neither Sequence nor SpecialToken.") != std::string::npos);
  EXPECT_EQ(refusal(Code::kFormat, of_template(kText + "," + special("<x>"))), "post.special_tokens has no ids for \"<x>\".");
  EXPECT_TRUE(refusal(Code::kUnsupported, R"({"type": "ByteLevel", "more": 1})").find("\"more\" = 1") != std::string::npos);
  EXPECT_TRUE(refusal(Code::kFormat, R"({"type": "Sequence"})").find("post: processors") == 0);
}

}  // namespace text_post_processor_test
