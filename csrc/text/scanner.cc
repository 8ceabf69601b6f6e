#include "text/scanner.h"

#include <string>

#include "core/utf8.h"
#include "text/unicode.h"

namespace hone::text {
namespace {

/// A text with access to each character's class. Positions are byte offsets at character boundaries.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text), classes_(char_classes()) {}

  bool ends(size_t at) const { return at >= text_.size(); }
  char byte(size_t at) const { return ends(at) ? '\0' : text_[at]; }
  uint8_t classes(size_t at) const { return ends(at) ? 0 : classes_[code_point_at(text_.data() + at).value]; }
  size_t after(size_t at) const { return at + code_point_at(text_.data() + at).bytes; }
  bool newline(size_t at) const { return byte(at) == '\n' || byte(at) == '\r'; }
  /// True if the character at `at` is in none of the unwanted classes; false at the end of the text.
  bool none_of(size_t at, uint8_t unwanted) const { return !ends(at) && !(classes(at) & unwanted); }
  /// The character at `at`; 0 at the end of the text.
  uint32_t code(size_t at) const { return ends(at) ? 0 : code_point_at(text_.data() + at).value; }
  /// End of the run of characters, from `at` on, that are in any of the wanted classes.
  size_t run(size_t at, uint8_t wanted) const {
    while (classes(at) & wanted) at = after(at);
    return at;
  }

  /// End of 's, 't, 're, 've, 'm, 'll or 'd at `at`; `at` itself if none is there. With any_case, U+017F also
  /// counts as s.
  size_t contraction(size_t at, bool any_case) const {
    if (byte(at) != '\'') return at;
    const auto letter = [&](size_t i) {
      const char c = byte(i);
      return any_case && c >= 'A' && c <= 'Z' ? char(c + 32) : c;
    };
    const char a = letter(at + 1), b = letter(at + 2);
    if (a == 's' || a == 't' || a == 'm' || a == 'd') return at + 2;
    if ((a == 'r' && b == 'e') || (a == 'v' && b == 'e') || (a == 'l' && b == 'l')) return at + 3;
    if (any_case && a == '\xC5' && b == '\xBF') return at + 3;
    return at;
  }

  /// Matches \s+(?!\S)|\s+ at white space: the run of white space without its last character, if that leaves
  /// any and text follows.
  size_t spaces(size_t at) const {
    size_t end = at, last = at;
    while (classes(end) & kSpace) {
      last = end;
      end = after(end);
    }
    return ends(end) || last == at ? end : last;
  }

  /// Matches \s*[\r\n]+ at white space: up to the last line end of the run; returns `at` if it has none.
  size_t lines(size_t at) const {
    size_t end = at;
    for (size_t i = at; classes(i) & kSpace;) {
      const bool line_end = newline(i);
      i = after(i);
      if (line_end) end = i;
    }
    return end;
  }

 private:
  std::string_view text_;
  const uint8_t* classes_;
};

constexpr uint8_t kLetterOrMark = kLetter | kUpperish | kLowerish;

/// Matches [^\r\n\p{L}\p{N}]: the character that may precede a word in its piece; `unwanted` replaces the
/// classes \p{L}\p{N}.
bool may_lead(const Cursor& c, size_t at, uint8_t unwanted = kLetter | kNumber) {
  return c.none_of(at, unwanted) && !c.newline(at);
}

/// Matches [^\r\n\p{L}\p{N}]?\p{L}+, with classes `unwanted` and `letters` in the two places; returns `at` if
/// there is no match.
size_t word(const Cursor& c, size_t at, uint8_t letters, uint8_t unwanted = kLetter | kNumber) {
  const size_t from = may_lead(c, at, unwanted) ? c.after(at) : at;
  const size_t end = c.run(from, letters);
  return end > from ? end : c.run(at, letters);
}

/// Matches [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+; returns `at` if there is no match.
size_t upper_then_lower(const Cursor& c, size_t at) {
  size_t end = at, both = at;  // both: after the last character of the first run that is also in the second class
  while (c.classes(end) & kUpperish) {
    const bool lowerish = c.classes(end) & kLowerish;
    end = c.after(end);
    if (lowerish) both = end;
  }
  const size_t lower = c.run(end, kLowerish);
  return lower > end ? lower : both;
}

/// Matches the two case-aware alternatives of Tekken's pattern, each first with and then without a leading
/// character.
size_t cased_word(const Cursor& c, size_t at) {
  const bool lead = may_lead(c, at);
  const size_t next = lead ? c.after(at) : at;
  if (lead) {
    const size_t end = upper_then_lower(c, next);
    if (end > next) return end;
  }
  const size_t plain = upper_then_lower(c, at);
  if (plain > at) return plain;
  // The lower-case class cannot follow here, or the first alternative would have matched.
  const size_t upper = c.run(next, kUpperish);
  return upper > next ? upper : c.run(at, kUpperish);
}

/// End of the run of any of these bytes, from `at` on.
size_t through(const Cursor& c, size_t at, std::string_view bytes) {
  while (!c.ends(at) && bytes.find(c.byte(at)) != bytes.npos) ++at;
  return at;
}

/// Matches ` ?[^\s\p{L}\p{N}]+`, with `unwanted` as the excluded classes, and then any of the trailing bytes;
/// returns `at` if there is no match.
size_t symbols(const Cursor& c, size_t at, std::string_view trailing, uint8_t unwanted = kSpace | kLetter | kNumber) {
  const size_t from = c.byte(at) == ' ' ? at + 1 : at;
  size_t end = from;
  while (c.none_of(end, unwanted)) end = c.after(end);
  return end == from ? at : through(c, end, trailing);
}

/// Matches \s*[\r\n]+|\s+(?!\S)|\s+; returns `at` if there is no white space.
size_t lines_or_spaces(const Cursor& c, size_t at) {
  const size_t lines = c.lines(at);
  return lines > at ? lines : c.spaces(at);
}

/// The part that newer patterns share after words and numbers: symbols, line ends, white space.
size_t symbols_or_space(const Cursor& c, size_t at, std::string_view trailing) {
  const size_t end = symbols(c, at, trailing);
  return end > at ? end : lines_or_spaces(c, at);
}

size_t numbers(const Cursor& c, size_t at, int most) {
  for (int i = 0; i < most && c.classes(at) & kNumber; ++i) at = c.after(at);
  return at;
}

template <int kDigits>
size_t scan_words(std::string_view text, size_t at) {
  const Cursor c(text);
  size_t end = c.contraction(at, true);
  if (end == at) end = word(c, at, kLetter);
  if (end == at) end = numbers(c, at, kDigits);
  return end > at ? end : symbols_or_space(c, at, "\r\n");
}

size_t scan_tekken(std::string_view text, size_t at) {
  const Cursor c(text);
  const size_t end = cased_word(c, at);
  if (end > at) return end;
  return c.classes(at) & kNumber ? c.after(at) : symbols_or_space(c, at, "\r\n/");
}

size_t scan_o200k(std::string_view text, size_t at) {
  const Cursor c(text);
  size_t end = cased_word(c, at);
  if (end > at) return c.contraction(end, true);
  end = numbers(c, at, 3);
  return end > at ? end : symbols_or_space(c, at, "\r\n/");
}

size_t scan_qwen35(std::string_view text, size_t at) {
  const Cursor c(text);
  size_t end = c.contraction(at, true);
  if (end == at) end = word(c, at, kLetterOrMark);
  if (end == at) end = numbers(c, at, 1);
  if (end == at) end = symbols(c, at, "\r\n", kSpace | kNumber | kLetterOrMark);
  return end > at ? end : lines_or_spaces(c, at);
}

size_t scan_deepseek_numbers(std::string_view text, size_t at) { return numbers(Cursor(text), at, 3); }

/// Matches [一-龥぀-ゟ゠-ヿ]+, the Chinese and Japanese part of DeepSeek's pattern.
size_t scan_deepseek_cjk(std::string_view text, size_t at) {
  const Cursor c(text);
  const auto cjk = [](uint32_t code) { return (code >= 0x4E00 && code <= 0x9FA5) || (code >= 0x3040 && code <= 0x30FF); };
  while (cjk(c.code(at))) at = c.after(at);
  return at;
}

bool ascii_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

size_t scan_deepseek(std::string_view text, size_t at) {
  const Cursor c(text);
  if (c.code(at) < 0x80 && c.classes(at) & kSymbol && ascii_letter(c.byte(at + 1))) {
    size_t end = at + 1;
    while (ascii_letter(c.byte(end))) ++end;
    return end;
  }
  const size_t letters = word(c, at, kLetterOrMark, kLetter | kSymbol);
  if (letters > at) return letters;
  const size_t from = c.byte(at) == ' ' ? at + 1 : at;
  const size_t end = c.run(from, kSymbol);
  return end > from ? through(c, end, "\r\n") : lines_or_spaces(c, at);
}

struct Known {
  std::string_view pattern;
  Scan scan;
};

constexpr Known kKnown[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", scan_gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_words<3>},
    {R"('(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]++[\r\n]*|\s*[\r\n]|\s+(?!\S)|\s+)",
     scan_words<3>},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_words<1>},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_qwen35},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_tekken},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_o200k},
    {R"(\p{N}{1,3})", scan_deepseek_numbers},
    {"[一-龥぀-ゟ゠-ヿ]+", scan_deepseek_cjk},
    {R"([!"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_deepseek},
};

/// The pattern with raw line ends replaced by escapes.
std::string escaped(std::string_view pattern) {
  std::string out;
  for (const char c : pattern) {
    if (c == '\r') out += "\\r";
    else if (c == '\n') out += "\\n";
    else out += c;
  }
  return out;
}

}  // namespace

size_t scan_gpt2(std::string_view text, size_t at) {
  const Cursor c(text);
  const size_t contraction = c.contraction(at, false);
  if (contraction > at) return contraction;
  const size_t from = c.byte(at) == ' ' ? at + 1 : at;
  const uint8_t first = c.classes(from);
  if (first & (kLetter | kNumber)) return c.run(from, first & (kLetter | kNumber));
  const size_t end = symbols(c, at, "");
  return end > at ? end : c.spaces(at);
}

const char* const kKnownPatterns = "GPT-2, Llama 3, cl100k, o200k, Qwen 2, Qwen 3.5, Tekken, DeepSeek V3";

Scan scanner_of(std::string_view pattern) {
  const std::string wanted = escaped(pattern);
  for (const Known& known : kKnown) {
    if (known.pattern == wanted) return known.scan;
  }
  return nullptr;
}

}  // namespace hone::text
