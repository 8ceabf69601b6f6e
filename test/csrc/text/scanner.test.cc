// Compares scanners with a backtracking matcher that reads the same pattern. Faults put into the code:
// \s+(?!\S) keeping its last character; a Tekken word that does not backtrack; digits one by one; leading
// character not tried first; U+017F left out; "/" not trailing; DeepSeek's leading character may be a symbol,
// its symbols include controls; Qwen 3.5's marks count as symbols; o200k's contraction not joined to its
// word.
#include "text/scanner.h"

#include <algorithm>

#include "backtracking.h"
#include "check.h"
#include "text/patterns.h"
#include "text/processor_time.h"

namespace text_scanner_test {

using namespace hone;
using namespace hone::test;

namespace {

/// The text with "|" after each match and "~" after each gap between matches.
std::string pieces(text::Scan scan, const std::string& text) {
  std::string out;
  bool gap = false;
  for (size_t at = 0; at < text.size();) {
    const size_t end = scan(text, at), match = std::max(end, at);
    if (end < at || end > text.size()) return out + "(lost)";
    if (gap && match > at) out += "~";
    gap = match == at;
    const size_t next = gap ? at + code_point_at(text.data() + at).bytes : match;
    out += text.substr(at, next - at) + (gap ? "" : "|");
    at = next;
  }
  return gap ? out + "~" : out;
}

std::string pieces_by_backtracking(const Backtracking& matcher, const std::vector<uint32_t>& codes) {
  std::string out;
  bool gap = false;
  for (size_t at = 0; at < codes.size();) {
    const long end = matcher.match(codes, at);
    if (gap && end > long(at)) out += "~";
    gap = end <= long(at);
    const size_t stop = gap ? at + 1 : size_t(end);
    for (; at < stop; ++at) append_utf8(out, codes[at]);
    if (!gap) out += "|";
  }
  return gap ? out + "~" : out;
}

/// Few different characters, so that rare combinations occur often: letters of each case, a mark, numbers,
/// spaces, line ends.
constexpr uint32_t kCodes[] = {'\'', 's', 'S', 't', 'l', 'L', 'd', 'r', 'e', 'A', 0xE9, 0x17F, 0x1C5, 0x2B0, 0x4E2D, 0x301, '1', 0x664,
                               0x2167, ' ', ' ', '\n', '\r', '\t', 0x3000, '.', '/', '$', 0x3042, 0x9FA6, 0x1, 0x1F600, 0x10FFFF};

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

TEST(newer_patterns_split_as_published) {
  const text::Scan cl100k = text::scanner_of(kPatterns[4]), qwen35 = text::scanner_of(kPatterns[5]), o200k = text::scanner_of(kPatterns[6]);
  EXPECT_EQ(pieces(cl100k, "DON'T pay 12345\n\n  now"), "DON|'T| pay| |123|45|\n\n| | now|");
  EXPECT_EQ(pieces(qwen35, "cafe\u0301 12 ++\u0301a"), "cafe\u0301| |1|2| ++|\u0301a|");
  EXPECT_EQ(pieces(o200k, "HTTPServer DON'T isn't 1234 //\n"), "HTTPServer| DON'T| isn't| |123|4| //\n|");
}

TEST(deepseek_splits_in_three_passes_with_gaps) {
  const text::Scan numbers = text::scanner_of(kPatterns[7]), cjk = text::scanner_of(kPatterns[8]), rest = text::scanner_of(kPatterns[9]);
  EXPECT_EQ(pieces(numbers, "a1234b5"), "a~123|4|b~5|");
  EXPECT_EQ(pieces(cjk, "x\u4E2D\u306Ay"), "x~\u4E2D\u306A|y~");
  EXPECT_EQ(pieces(rest, "#include <a_b> \x01\x01x +=\n"), "#include| <|a|_b|>| |\x01~\x01x| +=\n|");
}

TEST(raw_line_ends_in_a_pattern_are_its_escapes) {
  std::string pattern = kPatterns[9];
  for (const auto& [escape, raw] : {std::pair("\\r", "\r"), std::pair("\\n", "\n")}) {
    for (size_t at = pattern.find(escape); at != pattern.npos; at = pattern.find(escape)) pattern.replace(at, 2, raw);
  }
  EXPECT_TRUE(text::scanner_of(pattern) == text::scanner_of(kPatterns[9]));
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
      while (text.size() < 100000) text += unit;
      const double start = processor_seconds();
      for (size_t at = 0; at < text.size();) at = std::max(at + 1, scan(text, at));
      EXPECT_TRUE(processor_seconds() - start < 2);  // quadratic time would be a minute under sanitizers
    }
  }
}

}  // namespace text_scanner_test
