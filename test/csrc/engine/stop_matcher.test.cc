#include "engine/stop_matcher.h"

#include <algorithm>

#include "check.h"

namespace engine_stop_matcher_test {

using hone::engine::StopMatcher;
using namespace hone::test;

namespace {

// Faults put into the code, each detected by the brute-force comparison: restart at 0 instead of at the
// border; only the first string matched; state reset at each token.

/// Index of the token whose bytes complete the first match of any stop string; -1 if there is none.
int first_match(const std::vector<std::string>& stops, const std::vector<std::string>& tokens) {
  const StopMatcher matcher(stops);
  StopMatcher::State state = matcher.start();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (matcher.advance(state, tokens[i])) return int(i);
  }
  return -1;
}

int brute_force(const std::vector<std::string>& stops, const std::vector<std::string>& tokens) {
  std::string text;
  for (size_t i = 0; i < tokens.size(); ++i) {
    text += tokens[i];
    for (const std::string& s : stops) {
      if (text.find(s) != std::string::npos) return int(i);
    }
  }
  return -1;
}

}  // namespace

TEST(stop_string_inside_one_token) { EXPECT_EQ(first_match({"END"}, {"a", "xENDy", "b"}), 1); }

TEST(stop_string_spans_tokens_of_any_length) {
  EXPECT_EQ(first_match({"</answer>"}, {"42", "</", "ans", "", "wer", "> tail", "more"}), 5);
}

TEST(stop_string_with_a_border_is_found_after_a_false_start) {
  EXPECT_EQ(first_match({"aab"}, {"aa", "a", "b"}), 2);
  EXPECT_EQ(first_match({"\n\nQ"}, {"\n", "\n", "\n", "Q"}), 3);
}

TEST(stop_string_of_raw_bytes) { EXPECT_EQ(first_match({std::string("\0\xff", 2)}, {std::string("\0", 1), "\xff"}), 1); }

TEST(no_stop_strings_never_match) {
  EXPECT_TRUE(StopMatcher().empty());
  EXPECT_EQ(first_match({}, {"anything"}), -1);
}

TEST(stop_matcher_equals_brute_force_on_random_text) {
  const auto word = [](int64_t low, int64_t high) {
    std::string s(size_t(random_int(low, high)), 'a');
    for (char& c : s) c = char('a' + random_int(0, 1));
    return s;
  };
  for (int round = 0; round < 3000; ++round) {
    std::vector<std::string> stops(size_t(random_int(1, 3))), tokens(12);
    for (std::string& s : stops) s = word(1, 7);
    for (std::string& t : tokens) t = word(0, 3);
    EXPECT_EQ(first_match(stops, tokens), brute_force(stops, tokens));
  }
}

}  // namespace engine_stop_matcher_test
