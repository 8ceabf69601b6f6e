// ConfigFields: every field of a JSON object is either read or reported as unread.
#include "core/config_fields.h"

#include "check.h"

namespace core_config_fields_test {

using namespace hone;
using namespace hone::test;

namespace {

const Json kJson = Json::parse(R"({"n": 3, "x": 0.5, "b": true, "s": "two", "none": null, "more": [1]})", "test");

template <class Call>
std::string error_of(Code code, Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == code);
    return e.what();
  }
  return "";
}

}  // namespace

TEST(fields_are_read_by_type_or_replaced_by_their_default) {
  ConfigFields fields(kJson, "file");
  EXPECT_EQ(fields.integer("n"), 3);
  EXPECT_EQ(fields.integer("absent", 7), 7);
  EXPECT_EQ(fields.integer("none", 8), 8);
  EXPECT_EQ(fields.number("x", 1), 0.5);
  EXPECT_EQ(fields.boolean("b", false), true);
  EXPECT_EQ(fields.text("s"), "two");
  EXPECT_EQ(fields.text("absent"), "");
  EXPECT_TRUE(fields.value("none") == nullptr);
  EXPECT_EQ(fields.value("more")->items("more").size(), 1u);
  EXPECT_TRUE(value_or_null(fields, "none").is_null() && value_or_null(fields, "absent").is_null());
  EXPECT_EQ(value_or_null(fields, "more").items("more").size(), 1u);
  EXPECT_EQ(fields.path("n"), "file: n");
}

TEST(a_field_that_is_needed_is_named_when_it_is_missing) {
  ConfigFields fields(kJson, "file");
  EXPECT_EQ(error_of(Code::kConfig, [&] { fields.integer("absent"); }), "file: absent is missing and has no default.");
  EXPECT_TRUE(error_of(Code::kFormat, [&] { fields.integer("s"); }).find("file: s is a string") == 0);
  EXPECT_TRUE(error_of(Code::kFormat, [] { ConfigFields(Json::array(), "list"); }).find("list is an array") == 0);
}

TEST(only_some_values_are_possible) {
  ConfigFields fields(kJson, "file");
  fields.only("b", true);
  fields.only("x", 0.5);
  fields.only("s", {"one", "two"});
  fields.only("absent", {"one"});
  EXPECT_EQ(error_of(Code::kUnsupported, [&] { fields.only("b", false); }), "file: b is true; only false is supported.");
  EXPECT_EQ(error_of(Code::kUnsupported, [&] { fields.only("x", 1.0); }), "file: x is 0.5; only 1 is supported.");
  EXPECT_EQ(error_of(Code::kUnsupported, [&] { fields.only("s", {"one", "three"}); }),
            "file: s is \"two\"; supported: one, three.");
}

TEST(what_nobody_read_is_reported) {
  ConfigFields fields(kJson, "file");
  fields.ignore({"n", "x"});
  fields.boolean("b", false);
  EXPECT_EQ(error_of(Code::kUnsupported, [&] { fields.ignore({"s"}), fields.finish(); }),
            "file: field \"more\" = [1] is not understood and may change the result. Remove it if it does not.");
  fields.ignore({"s", "more"}), fields.finish();  // null counts as absent
}

TEST(problems_are_gathered_where_there_is_a_place_for_them) {
  ConfigProblems problems;
  ConfigFields fields(kJson, "file", &problems);
  EXPECT_EQ(fields.integer("absent"), 1);
  EXPECT_EQ(fields.integer("s", 5), 5);
  fields.only("x", 1.0);
  EXPECT_EQ(fields.numbers("more").size(), 1u);
  EXPECT_TRUE(fields.texts("more").empty());  // a number is not a text
  EXPECT_EQ(problems.found.size(), 4u);
  EXPECT_EQ(fields.unread().size(), 2u);  // n and b; null counts as absent
  EXPECT_TRUE(fields.present("none") && !fields.present("absent"));
  const std::string text = error_of(Code::kConfig, [&] { problems.raise(); });
  for (const char* part : {"4 problems", "absent is missing", "file: s is a string", "x is 0.5", "more"}) {
    EXPECT_TRUE(text.find(part) != std::string::npos);
  }
  ConfigProblems().raise();
}

}  // namespace core_config_fields_test
