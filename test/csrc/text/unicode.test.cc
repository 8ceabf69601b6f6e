// Character classes and NFC for characters whose result the standard states. test/native/tokenizer.test.ts
// compares every code point and random sequences with another implementation. Faults put into the code: marks
// not sorted; a mark of equal class not blocked; Hangul finals not joined; a segment begins at the active
// character instead of before it.
#include "text/unicode.h"

#include "check.h"
#include "core/utf8.h"
#include "text/processor_time.h"

namespace text_unicode_test {

using namespace hone;
using namespace hone::test;
using namespace hone::text;

namespace {

std::string utf8(std::initializer_list<uint32_t> codes) {
  std::string out;
  for (const uint32_t c : codes) append_utf8(out, c);
  return out;
}

int classes(uint32_t c) { return char_classes()[c]; }

}  // namespace

TEST(characters_have_their_classes) {
  EXPECT_EQ(classes('a'), kLetter | kLowerish | kWord);
  EXPECT_EQ(classes('Z'), kLetter | kUpperish | kWord);
  EXPECT_EQ(classes('7'), kNumber | kWord);
  EXPECT_EQ(classes('_'), kWord | kSymbol);
  for (const uint32_t c : {uint32_t('-'), uint32_t('$'), 0xABu, 0x3002u, 0x1F600u}) EXPECT_EQ(classes(c), kSymbol);
  for (const uint32_t c : {0x20u, 0x9u, 0xAu, 0xDu, 0x85u, 0xA0u, 0x3000u, 0x2028u}) EXPECT_EQ(classes(c), kSpace);
  EXPECT_EQ(classes(0x200B), 0);                                           // the zero width space is not white space
  EXPECT_EQ(classes(0x4E2D), kLetter | kUpperish | kLowerish | kWord);     // Lo
  EXPECT_EQ(classes(0x01C5), kLetter | kUpperish | kWord);                 // Lt
  EXPECT_EQ(classes(0x2167) & ~kWord, kNumber);                            // Nl, alphabetic
  EXPECT_EQ(classes(0xBD), kNumber);                                       // No
  EXPECT_EQ(classes(0x0301), kUpperish | kLowerish | kWord | kActive);     // Mn
  EXPECT_EQ(classes(0x200D), kWord);                                       // joiner
  EXPECT_EQ(classes(0x10FFFF), 0);
}

TEST(nfc_composes_and_orders) {
  const struct { std::string from, to; } cases[] = {
      {"plain", "plain"},
      {"", ""},
      {utf8({'e', 0x301}), utf8({0xE9})},
      {utf8({0x212B}), utf8({0xC5})},                                  // Angstrom sign
      {utf8({'D', 0x307, 0x323}), utf8({0x1E0C, 0x307})},              // the dot below is sorted first
      {utf8({0x1E0A, 0x323}), utf8({0x1E0C, 0x307})},
      {utf8({'a', 0x345, 0x301}), utf8({0xE1, 0x345})},
      {utf8({'a', 0x301, 0x301}), utf8({0xE1, 0x301})},                // the first mark blocks the second of its class
      {utf8({'o', 0x302, 0x323}), utf8({0x1ED9})},
      {utf8({'a', 0x305, 0x301}), utf8({'a', 0x305, 0x301})},
      {utf8({0x301, 'e'}), utf8({0x301, 'e'})},                        // a mark at the start has no base
      {utf8({0x1100, 0x1161, 0x11A8}), utf8({0xAC01})},
      {utf8({0xAC00, 0x11A8, 0x11A8}), utf8({0xAC01, 0x11A8})},
      {utf8({0x1100, 0x1161, 0x1161}), utf8({0xAC00, 0x1161})},
      {utf8({0x958}), utf8({0x915, 0x93C})},                           // excluded from composition
      {utf8({0x2F800}), utf8({0x4E3D})},
      {utf8({'x', 0x958, 'y', 'e', 0x301, 'z'}), utf8({'x', 0x915, 0x93C, 'y', 0xE9, 'z'})},
      {utf8({0x9C7, 0x9BE}), utf8({0x9CB})},                           // two starters compose
      {utf8({0x16D67, 0x16D68}), utf8({0x16D68, 0x16D67})},            // a composed second character is decomposed
      {utf8({0x9C7, 0x334, 0x9BE}), utf8({0x9C7, 0x334, 0x9BE})},      // a mark between them blocks the composition
  };
  for (const auto& [from, to] : cases) {
    EXPECT_EQ(nfc(from), to);
    EXPECT_EQ(nfc(to), to);
  }
}

TEST(joining_normalized_parts_at_a_boundary_changes_nothing) {
  static constexpr uint32_t kCodes[] = {'a', 'e', 'D', 0xE9, 0x300, 0x301, 0x323, 0x327, 0x345, 0x334, 0x5B0, 0x1100, 0x1161,
                                        0x11A8, 0xAC00, 0x958, 0x915, 0x93C, 0x1E0A, 0x212B, ' ', 0x4E2D, 0x1F600};
  for (int i = 0; i < 5000; ++i) {
    std::string text;
    for (int64_t n = random_int(0, 12); n > 0; --n) append_utf8(text, kCodes[random_int(0, std::size(kCodes) - 1)]);
    const std::string once = nfc(text);
    EXPECT_EQ(nfc(once), once);
    EXPECT_EQ(nfc(text + "x" + text), once + "x" + once);
  }
}

TEST(a_megabyte_of_marks_takes_no_longer_than_sorting_it) {
  std::string marks;
  while (marks.size() < 1000000) marks += utf8({0x345, 0x301, 0x323, 0x334});
  const double start = processor_seconds();
  const std::string sorted = nfc("a" + marks);
  const double seconds = processor_seconds() - start;
  EXPECT_EQ(sorted.substr(0, 5), utf8({0x1EA1, 0x334}));  // a with a dot below, then the mark of the lowest class
  EXPECT_EQ(sorted.size(), marks.size() + 1);
  EXPECT_TRUE(seconds < 20);  // a quadratic sort would take minutes, even without sanitizers
}

}  // namespace text_unicode_test
