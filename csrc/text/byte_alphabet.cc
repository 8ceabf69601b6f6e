#include "text/byte_alphabet.h"

#include <array>
#include <cstdint>

#include "core/utf8.h"

namespace hone::text {
namespace {

/// The alphabet: printable Latin-1 characters represent themselves; the other bytes, in order, are
/// represented by U+0100 and following.
std::array<int, 512> alphabet() {
  std::array<int, 512> byte_of;
  byte_of.fill(-1);
  uint32_t next = 0x100;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xFF && byte != 0xAD);
    byte_of[printable ? byte : next++] = int(byte);
  }
  return byte_of;
}

}  // namespace

bool bytes_of(const std::string& name, std::string& bytes) {
  static const std::array<int, 512> byte_of = alphabet();
  bytes.clear();
  for (size_t at = 0; at < name.size();) {
    const CodePoint c = code_point_at(name.data() + at);
    const int byte = c.value < byte_of.size() ? byte_of[c.value] : -1;
    if (byte < 0) return false;
    bytes += char(byte);
    at += c.bytes;
  }
  return true;
}

}  // namespace hone::text
