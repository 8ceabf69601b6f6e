// Scanners against a backtracking matcher that reads the same pattern.
// Mutants tried: \s+(?!\S) keeping its last character; a Tekken word that does not give back; digits one by one;
// leading character not tried first; U+017F left out; "/" not trailing.
#include "text/scanner.h"

#include <chrono>

#include "backtracking.h"
#include "check.h"
#include "text/patterns.h"

using namespace hone;
using namespace hone::test;

namespace {

std::string pieces(text::Scan scan, const std::string& text) {
  std::string out;
  for (size_t at = 0; at < text.size();) {
    const size_t end = scan(text, at);
    if (end <= at || end > text.size()) return out + "(stuck)";
    out += text.substr(at, end - at) + "|";
    at = end;
  }
  return out;
}

std::string pieces_by_backtracking(const Backtracking& matcher, const std::vector<uint32_t>& codes) {
  std::string out;
  for (size_t at = 0; at < codes.size();) {
    const long end = matcher.match(codes, at);
    if (end <= long(at)) return out + "(stuck)";
    for (; at < size_t(end); ++at) append_utf8(out, codes[at]);
    out += "|";
  }
  return out;
}

/// Few characters, so that rare neighbours are common: letters of each case, a mark, numbers, spaces, line ends.
constexpr uint32_t kCodes[] = {'\'', 's', 'S', 't', 'l', 'L', 'd', 'r', 'e', 'A', 0xE9, 0x17F, 0x1C5, 0x2B0, 0x4E2D, 0x301, '1', 0x664,
                               0x2167, ' ', ' ', '\n', '\r', '\t', 0x3000, '.', '/', 0x1F600, 0x10FFFF};

}  // namespace

TEST(each_pattern_splits_as_backtracking_does) {
  for (const char* pattern : kPatterns) {
    const text::Scan scan = text::scanner_of(pattern);
    EXPECT_TRUE(scan != nullptr);
    if (!scan) continue;
    const Backtracking matcher(pattern);
    for (int i = 0; i < 4000; ++i) {
      std::vector<uint32_t> codes;
      std::string text;
      for (int64_t n = random_int(1, 12); n > 0; --n) {
        codes.push_back(kCodes[random_int(0, std::size(kCodes) - 1)]);
        append_utf8(text, codes.back());
      }
      EXPECT_EQ(pieces(scan, text), pieces_by_backtracking(matcher, codes));
    }
  }
}

TEST(known_sentences_split_as_published) {
  EXPECT_EQ(pieces(text::scan_gpt2, "It's 12 o'clock,  isn't it?\n\n"), "It|'s| 12| o|'|clock|,| | isn|'t| it|?|\n\n|");
  const text::Scan llama = text::scanner_of(kPatterns[1]), qwen = text::scanner_of(kPatterns[2]), tekken = text::scanner_of(kPatterns[3]);
  EXPECT_EQ(pieces(llama, "DON'T pay 12345\n\n  now"), "DON|'T| pay| |123|45|\n\n| | now|");
  EXPECT_EQ(pieces(qwen, "x=1234;\n"), "x|=|1|2|3|4|;\n|");
  EXPECT_EQ(pieces(tekken, "HTTPServer getURLPath //\n/x 42"), "HTTPServer| get|URLPath| //\n/|x| |4|2|");
}

TEST(a_pattern_that_differs_by_a_character_is_unknown) {
  EXPECT_TRUE(text::scanner_of("") == nullptr);
  EXPECT_TRUE(text::scanner_of(std::string(kPatterns[0]) + " ") == nullptr);
  std::string pattern = kPatterns[3];
  pattern.erase(pattern.find('/'), 1);
  EXPECT_TRUE(text::scanner_of(pattern) == nullptr);
}

TEST(time_is_linear_whatever_the_text) {
  for (const char* pattern : kPatterns) {
    const text::Scan scan = text::scanner_of(pattern);
    for (const std::string unit : {"a", "A", "Aa", "A\xCA\xB0", " ", "\n", " \n", "'s", "'", "1", "\xCC\x81", ".", "\xE4\xB8\xAD", " a", "/\n"}) {
      std::string text;
      while (text.size() < 300000) text += unit;
      const auto start = std::chrono::steady_clock::now();
      for (size_t at = 0; at < text.size();) at = scan(text, at);
      EXPECT_TRUE(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count() < 5);
    }
  }
}

TEST_MAIN
