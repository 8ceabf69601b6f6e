// Each token has one id and each id one token. Faults put into the code: a second token may take an id; a
// token is found by its new name; the id 2^24 is allowed.
#include "text/vocabulary.h"

#include "check.h"
#include "core/error.h"

namespace text_vocabulary_test {

using namespace hone;
using namespace hone::test;
using text::Vocabulary;

namespace {

template <class Call>
std::string error_of(Call call) {
  try {
    call();
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kFormat);
    return e.what();
  }
  return "none";
}

}  // namespace

TEST(tokens_have_names_and_ids_with_holes_between) {
  Vocabulary vocabulary;
  EXPECT_EQ(vocabulary.size(), 0u);
  vocabulary.enter(3, "c", "here");
  vocabulary.enter(1, "a", "here");
  vocabulary.enter(3, "c", "here");
  EXPECT_EQ(vocabulary.size(), 4u);
  EXPECT_EQ(vocabulary.id_of("c"), 3);
  EXPECT_EQ(vocabulary.id_of("a"), 1);
  EXPECT_EQ(vocabulary.id_of(""), -1);
  EXPECT_EQ(vocabulary.name(0) + "|" + vocabulary.name(1) + "|" + vocabulary.name(2) + "|" + vocabulary.name(3), "|a||c");
  EXPECT_EQ(vocabulary.ids().size(), 2u);
}

TEST(a_conflict_is_named) {
  Vocabulary vocabulary;
  vocabulary.enter(1, "a", "here");
  EXPECT_EQ(error_of([&] { vocabulary.enter(1, "b", "there"); }), "there gives id 1 to \"b\", but another token has it.");
  EXPECT_EQ(error_of([&] { vocabulary.enter(2, "a", "there"); }), "there gives id 2 to \"a\", but that token has another id.");
  EXPECT_EQ(error_of([&] { vocabulary.enter(1, "a", "there"); }), "none");
}

TEST(a_renamed_token_is_found_by_its_old_name) {
  Vocabulary vocabulary;
  vocabulary.enter(0, "A", "here");
  vocabulary.rename(0, "a");
  EXPECT_EQ(vocabulary.name(0), "a");
  EXPECT_EQ(vocabulary.id_of("A"), 0);
  EXPECT_EQ(vocabulary.id_of("a"), -1);
}

TEST(an_id_is_neither_negative_nor_huge) {
  const auto id = [](const char* json) { return text::token_id(Json::parse(json, "test"), "here: id"); };
  EXPECT_EQ(id("0"), 0);
  EXPECT_EQ(id("16777215"), 16777215);
  EXPECT_EQ(error_of([&] { id("16777216"); }), "here: id is 16777216, expected 0 to 16777215.");
  EXPECT_EQ(error_of([&] { id("-1"); }), "here: id is -1, expected 0 to 16777215.");
  EXPECT_TRUE(error_of([&] { id("null"); }).find("here: id") == 0);
}

}  // namespace text_vocabulary_test
