#include "text/scanner.h"

#include "core/utf8.h"
#include "text/unicode.h"

namespace hone::text {
namespace {

/// A text with the class of each character at hand. Positions are byte offsets at character boundaries.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text), classes_(char_classes()) {}

  bool ends(size_t at) const { return at >= text_.size(); }
  char byte(size_t at) const { return ends(at) ? '\0' : text_[at]; }
  uint8_t classes(size_t at) const { return ends(at) ? 0 : classes_[code_point_at(text_.data() + at).value]; }
  size_t after(size_t at) const { return at + code_point_at(text_.data() + at).bytes; }
  bool newline(size_t at) const { return byte(at) == '\n' || byte(at) == '\r'; }
  /// A character that is neither white space nor letter nor number; not the end.
  bool symbol(size_t at) const { return !ends(at) && !(classes(at) & (kSpace | kLetter | kNumber)); }
  /// End of the run of characters of any of the wanted classes.
  size_t run(size_t at, uint8_t wanted) const {
    while (classes(at) & wanted) at = after(at);
    return at;
  }

  /// 's 't 're 've 'm 'll 'd; `at` itself if none. Without regard to case, U+017F is an s too.
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

  /// \s+(?!\S)|\s+ at white space: the run without its last character, if that leaves any and text follows.
  size_t spaces(size_t at) const {
    size_t end = at, last = at;
    while (classes(end) & kSpace) {
      last = end;
      end = after(end);
    }
    return ends(end) || last == at ? end : last;
  }

  /// \s*[\r\n]+ at white space: through the last line end of the run; `at` itself if it has none.
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

/// [^\r\n\p{L}\p{N}] at `at`: the character that a word may take along in front.
bool may_lead(const Cursor& c, size_t at) {
  return !c.ends(at) && !c.newline(at) && !(c.classes(at) & (kLetter | kNumber));
}

/// [^\r\n\p{L}\p{N}]?\p{L}+
size_t word(const Cursor& c, size_t at) {
  const size_t from = may_lead(c, at) ? c.after(at) : at;
  const size_t end = c.run(from, kLetter);
  return end > from ? end : at;
}

/// [\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+ ; `at` itself without a match.
size_t upper_then_lower(const Cursor& c, size_t at) {
  size_t end = at, both = at;  // both: behind the last character of the first run that the second class has too
  while (c.classes(end) & kUpperish) {
    const bool lowerish = c.classes(end) & kLowerish;
    end = c.after(end);
    if (lowerish) both = end;
  }
  const size_t lower = c.run(end, kLowerish);
  return lower > end ? lower : both;
}

/// The two case-aware alternatives of Tekken, each first with and then without a leading character.
size_t cased_word(const Cursor& c, size_t at) {
  const bool lead = may_lead(c, at);
  const size_t next = lead ? c.after(at) : at;
  if (lead) {
    const size_t end = upper_then_lower(c, next);
    if (end > next) return end;
  }
  const size_t plain = upper_then_lower(c, at);
  if (plain > at) return plain;
  // The second class cannot follow now, or the first alternative would have matched.
  const size_t upper = c.run(next, kUpperish);
  return upper > next ? upper : c.run(at, kUpperish);
}

/// ` ?[^\s\p{L}\p{N}]+` and then any of the trailing bytes; `at` itself without a match.
size_t symbols(const Cursor& c, size_t at, std::string_view trailing) {
  const size_t from = c.byte(at) == ' ' ? at + 1 : at;
  if (!c.symbol(from)) return at;
  size_t end = from;
  while (c.symbol(end)) end = c.after(end);
  while (!c.ends(end) && trailing.find(c.byte(end)) != trailing.npos) ++end;
  return end;
}

/// What the newer patterns share behind words and numbers.
size_t symbols_or_space(const Cursor& c, size_t at, std::string_view trailing) {
  const size_t end = symbols(c, at, trailing);
  if (end > at) return end;
  const size_t lines = c.lines(at);
  return lines > at ? lines : c.spaces(at);
}

size_t numbers(const Cursor& c, size_t at, int most) {
  for (int i = 0; i < most && c.classes(at) & kNumber; ++i) at = c.after(at);
  return at;
}

template <int kDigits>
size_t scan_words(std::string_view text, size_t at) {
  const Cursor c(text);
  size_t end = c.contraction(at, true);
  if (end == at) end = word(c, at);
  if (end == at) end = numbers(c, at, kDigits);
  return end > at ? end : symbols_or_space(c, at, "\r\n");
}

size_t scan_tekken(std::string_view text, size_t at) {
  const Cursor c(text);
  const size_t end = cased_word(c, at);
  if (end > at) return end;
  return c.classes(at) & kNumber ? c.after(at) : symbols_or_space(c, at, "\r\n/");
}

struct Known {
  std::string_view pattern;
  Scan scan;
};

constexpr Known kKnown[] = {
    {R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)", scan_gpt2},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_words<3>},
    {R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_words<1>},
    {R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
     scan_tekken},
};

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

Scan scanner_of(std::string_view pattern) {
  for (const Known& known : kKnown) {
    if (known.pattern == pattern) return known.scan;
  }
  return nullptr;
}

}  // namespace hone::text
