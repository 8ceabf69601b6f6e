// ByText: look-up by a string_view finds what look-up by a copy finds, even if the underlying text continues
// after the view.
#include "text/by_text.h"

#include "check.h"

namespace text_by_text_test {

using namespace hone::test;
using hone::text::ByText;
using hone::text::TextHash;

TEST(a_view_finds_what_its_copy_finds) {
  ByText<int> map;
  map.emplace("ab", 1);
  map.emplace("", 2);
  map.emplace(std::string("a\0b", 3), 3);
  const std::string text("xab\0ba\0b", 8);
  const std::string_view view = text;
  EXPECT_EQ(map.find(view.substr(1, 2))->second, 1);
  EXPECT_EQ(map.find(view.substr(4, 0))->second, 2);
  EXPECT_EQ(map.find(view.substr(5, 3))->second, 3);
  EXPECT_TRUE(map.find(view.substr(1, 3)) == map.end());
  EXPECT_EQ(TextHash()(view.substr(1, 2)), std::hash<std::string>()("ab"));
}

}  // namespace text_by_text_test
