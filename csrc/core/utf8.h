// UTF-8, one code point at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hone {

/// Appends the encoding of a code point (not a surrogate, at most 0x10FFFF; not checked).
void append_utf8(std::string& out, uint32_t c);

/// Length in bytes of the well-formed sequence at the start of `text`, or 0 if there is none. Source:
/// Unicode, table 3-7.
int utf8_length(std::string_view text);

/// Offset of the first byte that is not part of a well-formed sequence, or text.size().
size_t utf8_prefix(std::string_view text);

/// Appends `bytes`, with U+FFFD for each maximal part that is ill-formed. Source: Unicode, section 3.9,
/// "U+FFFD Substitution of Maximal Subparts".
void append_lossy_utf8(std::string& out, std::string_view bytes);

struct CodePoint {
  uint32_t value;
  uint32_t bytes;
};

/// The code point at p. Unchecked: the text is well formed and p is at a boundary before its end.
inline CodePoint code_point_at(const char* p) {
  const auto byte = [p](int i) { return uint32_t(uint8_t(p[i])); };
  const uint32_t a = byte(0);
  if (a < 0x80) return {a, 1};
  if (a < 0xE0) return {(a & 31) << 6 | (byte(1) & 63), 2};
  if (a < 0xF0) return {(a & 15) << 12 | (byte(1) & 63) << 6 | (byte(2) & 63), 3};
  return {(a & 7) << 18 | (byte(1) & 63) << 12 | (byte(2) & 63) << 6 | (byte(3) & 63), 4};
}

/// The code point that ends just before `end`. Unchecked: the text is well formed and a code point ends
/// there.
inline CodePoint code_point_before(const char* end) {
  const char* p = end - 1;
  while ((uint8_t(*p) & 0xC0) == 0x80) --p;
  return code_point_at(p);
}

}  // namespace hone
