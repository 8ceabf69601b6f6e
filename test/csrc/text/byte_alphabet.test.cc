// The alphabet has a character for each of the 256 bytes, each once.
#include "text/byte_alphabet.h"

#include <set>

#include "check.h"
#include "core/utf8.h"

namespace text_byte_alphabet_test {

using namespace hone;
using namespace hone::test;

TEST(every_byte_has_one_character) {
  std::set<char> found;
  int characters = 0;
  for (uint32_t c = 0; c < 0x3000; ++c) {
    std::string name, bytes;
    append_utf8(name, c);
    if (!text::bytes_of(name, bytes)) continue;
    EXPECT_EQ(bytes.size(), 1u);
    found.insert(bytes[0]);
    ++characters;
    if (c > 0x20 && c < 0x7F) EXPECT_EQ(bytes, name);
  }
  EXPECT_EQ(found.size(), 256u);
  EXPECT_EQ(characters, 256);
}

TEST(known_names_are_spelled) {
  std::string bytes;
  EXPECT_TRUE(text::bytes_of("\xC4\xA0the\xC4\x8A", bytes));
  EXPECT_EQ(bytes, " the\n");
  EXPECT_TRUE(text::bytes_of("\xC3\xA9\xC5\x83", bytes));  // stands for byte E9; the second, the last of the alphabet, for AD
  EXPECT_EQ(bytes, "\xE9\xAD");
  EXPECT_TRUE(text::bytes_of("", bytes) && bytes.empty());
  EXPECT_TRUE(!text::bytes_of("a b", bytes));
  EXPECT_TRUE(!text::bytes_of("\xE4\xB8\xAD", bytes));
  EXPECT_TRUE(!text::bytes_of("\xC5\x84", bytes));
}

}  // namespace text_byte_alphabet_test
