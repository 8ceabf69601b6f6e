// The JSON parser against examples of RFC 8259, and against its own serialization of random values.
//
// Faults put into the code: surrogate pair without + 0x10000; depth not counted in arrays; key compared only
// with its neighbour; leading zero accepted; as_int through a double (9007199254740993 becomes ...992).
#include "core/json.h"

#include "check.h"

namespace core_json_test {

using namespace hone;
using namespace hone::test;

namespace {

Json parse(std::string_view text) { return Json::parse(text, "test"); }

std::string error_of(std::string_view text) {
  try {
    parse(text);
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kFormat);
    return e.what();
  }
  return "";
}

Json random_value(int depth) {
  switch (random_int(0, depth > 3 ? 3 : 5)) {
    case 0: return Json();
    case 1: return Json::boolean(random_int(0, 1));
    case 2: return random_int(0, 1) ? Json::integer(random_int(INT64_MIN, INT64_MAX))
                                    : Json::number(double(random_floats(1)[0]) * 1e-7);
    case 3: {
      std::string text;
      for (int64_t i = random_int(0, 9); i > 0; --i) text += char(random_int(0, 127));
      return Json::string(text + "\xE2\x82\xAC");
    }
    case 4: {
      Json array = Json::array();
      for (int64_t i = random_int(0, 4); i > 0; --i) array.push(random_value(depth + 1));
      return array;
    }
    default: {
      Json object = Json::object();
      for (int64_t i = random_int(0, 4); i > 0; --i) object.set("k" + std::to_string(i), random_value(depth + 1));
      return object;
    }
  }
}

}  // namespace

TEST(values_of_every_kind_are_read) {
  const Json j = parse(" { \"a\" : [ 1 , -2.5e1 , true , false , null ] , \"b\" : \"x\" } ");
  const std::vector<Json>& a = j.find("a")->items("a");
  EXPECT_EQ(a.size(), 5u);
  EXPECT_EQ(a[0].as_int("a0"), 1);
  EXPECT_EQ(a[1].as_double("a1"), -25.0);
  EXPECT_TRUE(a[2].as_bool("a2") && !a[3].as_bool("a3") && a[4].is_null());
  EXPECT_EQ(j.find("b")->as_string("b"), "x");
  EXPECT_TRUE(j.find("c") == nullptr);
  EXPECT_EQ(j.members("j")[1].first, "b");
  EXPECT_TRUE(parse("[]").items("x").empty() && parse("{}").members("x").empty());
}

TEST(escapes_become_utf8) {
  EXPECT_EQ(parse(R"("\"\\\/\b\f\n\r\t")").as_string("s"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(parse(R"("\u0041\u00e9\u20AC\uD83D\uDE00\u0000z")").as_string("s"),
            std::string("A\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\0z", 12));
  EXPECT_EQ(parse("\"\xF0\x9F\x98\x80\"").as_string("s"), "\xF0\x9F\x98\x80");
}

TEST(integers_of_64_bits_survive) {
  EXPECT_EQ(parse("9007199254740993").as_int("n"), 9007199254740993);
  EXPECT_EQ(parse("-9223372036854775808").as_int("n"), INT64_MIN);
  EXPECT_EQ(parse("9223372036854775807").as_int("n"), INT64_MAX);
  EXPECT_EQ(parse("8192.0").as_int("n"), 8192);
  EXPECT_EQ(parse("1e6").as_int("n"), 1000000);
  EXPECT_THROWS(parse("9223372036854775808").as_int("n"), Code::kFormat);
  EXPECT_THROWS(parse("1.5").as_int("n"), Code::kFormat);
  EXPECT_THROWS(parse("1e30").as_int("n"), Code::kFormat);
  EXPECT_EQ(parse("1e-400").as_double("n"), 0.0);
  EXPECT_EQ(parse("0.1").as_double("n"), 0.1);
}

TEST(what_is_not_json_is_refused) {
  const char* const bad[] = {
      "", " ", "{", "[", "[1", "[1,]", "[,1]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\" 1}", "{1:2}",
      "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x10", "NaN", "Infinity", "-Infinity", "1e999", "tru", "nul", "True",
      "\"", "\"\\\"", "\"\\x\"", "\"\\u12\"", "\"\\u12G4\"", "\"\\uD800\"", "\"\\uD800\\u0041\"", "\"\\uDC00\"", "\"\\uD800\\uE000\"",
      "\"\\uD800x\"", "\"a\nb\"", "\"\x01\"", "\"\x80\"", "\"\xC0\x80\"", "\"\xE0\x80\x80\"", "\"\xED\xA0\x80\"",
      "\"\xF5\x80\x80\x80\"", "\"\xF4\x90\x80\x80\"", "\"\xE2\x82\"", "1 2", "{} x", "[1 2]", "'a'", "// c\n1",
      "{\"a\":1,\"a\":2}", "{\"a\":1,\"b\":2,\"\\u0061\":3}"};
  for (const char* text : bad) {
    if (error_of(text).empty()) EXPECT_EQ(std::string(text), "refused");
  }
  EXPECT_TRUE(!error_of(std::string_view("1\0", 2)).empty());
  EXPECT_TRUE(!error_of(std::string_view("\"a\0b\"", 5)).empty());
  EXPECT_TRUE(!error_of(std::string_view("\0", 1)).empty());
}

TEST(a_config_may_have_the_infinities_that_python_writes) {
  const Json config = parse_config_json(R"({"a": [0.0, Infinity], "b": -Infinity, "c": NaN, "d": "Infinity", "e": -1})", "test");
  EXPECT_EQ(config.dump(), R"({"a":[0.0,{"__float__":"Infinity"}],"b":{"__float__":"-Infinity"},"c":{"__float__":"NaN"},"d":"Infinity","e":-1})");
  for (const char* text : {"Infinit", "[Infinity Infinity]", "-Inf", "nan", "--Infinity", "Infinity1"}) {
    EXPECT_THROWS(parse_config_json(text, "test"), Code::kFormat);
  }
}

TEST(errors_name_the_place) {
  EXPECT_EQ(error_of("{\"a\": [1, x]}"), "test: an unexpected character at byte 10.");
  EXPECT_EQ(error_of("[1"), "test: ',' or ']' is expected at byte 2.");
  try {
    parse("{\"rope_theta\":\"x\"}").find("rope_theta")->as_double("config.json: rope_theta");
  } catch (const Error& e) {
    EXPECT_EQ(std::string(e.what()), "config.json: rope_theta is a string, expected a number.");
  }
}

TEST(nesting_is_bounded) {
  const auto nested = [](int depth) { return std::string(size_t(depth), '[') + std::string(size_t(depth), ']'); };
  EXPECT_EQ(error_of(nested(64)), "");
  EXPECT_TRUE(!error_of(nested(66)).empty());
  EXPECT_TRUE(!error_of(std::string(1000000, '[')).empty());
  std::string objects;
  for (int i = 0; i < 100000; ++i) objects += "{\"a\":";
  EXPECT_TRUE(!error_of(objects).empty());
}

TEST(every_prefix_of_a_document_is_an_error_and_never_a_crash) {
  const std::string text = R"({"a":[1,2.5e-3,"\u20ac\ud83d\ude00"],"b":{"c":null,"d":true}})";
  EXPECT_EQ(error_of(text), "");
  for (size_t n = 0; n < text.size(); ++n) EXPECT_TRUE(!error_of(std::string_view(text).substr(0, n)).empty());
}

TEST(what_is_dumped_reads_back_the_same) {
  for (int i = 0; i < 500; ++i) {
    const std::string text = random_value(0).dump();
    EXPECT_EQ(parse(text).dump(), text);
  }
  EXPECT_EQ(Json::string("a\"\\\n\x01").dump(), R"("a\"\\\u000a\u0001")");
  EXPECT_EQ(parse("1.50").dump(), "1.50");
}

TEST(set_replaces_and_wrong_kinds_are_refused) {
  Json j = Json::object();
  j.set("a", Json::integer(1));
  j.set("a", Json::integer(2));
  EXPECT_EQ(j.dump(), R"({"a":2})");
  EXPECT_THROWS(Json::array().set("a", Json()), Code::kFormat);
  EXPECT_THROWS(Json::object().push(Json()), Code::kFormat);
  EXPECT_THROWS(Json().as_bool("x"), Code::kFormat);
  EXPECT_THROWS(Json().as_string("x"), Code::kFormat);
  EXPECT_THROWS(Json().items("x"), Code::kFormat);
  EXPECT_THROWS(Json().members("x"), Code::kFormat);
  EXPECT_THROWS(Json::number(std::nan("")), Code::kInternal);
}

}  // namespace core_json_test
