#include "core/utf8.h"

namespace hone {

void append_utf8(std::string& out, uint32_t c) {
  if (c < 0x80) {
    out += char(c);
  } else if (c < 0x800) {
    out += char(0xC0 | c >> 6);
    out += char(0x80 | (c & 63));
  } else if (c < 0x10000) {
    out += char(0xE0 | c >> 12);
    out += char(0x80 | (c >> 6 & 63));
    out += char(0x80 | (c & 63));
  } else {
    out += char(0xF0 | c >> 18);
    out += char(0x80 | (c >> 12 & 63));
    out += char(0x80 | (c >> 6 & 63));
    out += char(0x80 | (c & 63));
  }
}

int utf8_length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? uint8_t(text[i]) : 0u; };
  const auto follows = [&](size_t i) { return (byte(i) & 0xC0) == 0x80; };
  const uint32_t a = byte(0), b = byte(1);
  if (a < 0x80) return 1;
  if (a >= 0xC2 && a <= 0xDF) return follows(1) ? 2 : 0;
  if (a >= 0xE0 && a <= 0xEF) {
    const bool overlong = a == 0xE0 && b < 0xA0, surrogate = a == 0xED && b > 0x9F;
    return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
  }
  if (a >= 0xF0 && a <= 0xF4) {
    const bool overlong = a == 0xF0 && b < 0x90, beyond = a == 0xF4 && b > 0x8F;
    return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
  }
  return 0;
}

size_t utf8_prefix(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const int length = utf8_length(text.substr(at));
    if (length == 0) break;
    at += size_t(length);
  }
  return at;
}

namespace {

/// Length of the maximal subpart: the bytes at the start of ill-formed `text` that could begin a well-formed
/// sequence, at least one.
size_t maximal_subpart(std::string_view text) {
  const uint8_t a = uint8_t(text[0]);
  const size_t wanted = a >= 0xF0 ? 4 : a >= 0xE0 ? 3 : 2;
  size_t n = 1;
  // k bytes can begin a sequence if some completion of them is well formed; only the second byte has special
  // rules.
  while (n < wanted && n < text.size()) {
    static constexpr char kFill[] = "\x80\x80\x80";
    std::string probe(text.substr(0, n + 1));
    probe.append(kFill, wanted - n - 1);
    if (utf8_length(probe) == 0) break;
    ++n;
  }
  return n;
}

}  // namespace

void append_lossy_utf8(std::string& out, std::string_view bytes) {
  for (;;) {
    const size_t good = utf8_prefix(bytes);
    out.append(bytes.substr(0, good));
    if (good == bytes.size()) return;
    bytes.remove_prefix(good);
    out += "\xEF\xBF\xBD";
    bytes.remove_prefix(maximal_subpart(bytes));
  }
}

}  // namespace hone
