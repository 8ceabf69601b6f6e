#include "core/crc32c.h"

#include <array>
#include <cstring>

#ifdef __aarch64__
#include <sys/auxv.h>
#endif

namespace hone {
namespace {

constexpr uint32_t kPolynomial = 0x82f63b78u;  // the polynomial of CRC-32C, its bits reversed

constexpr std::array<uint32_t, 256> make_table() {
  std::array<uint32_t, 256> table{};
  for (uint32_t byte = 0; byte < 256; ++byte) {
    uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = rest >> 1 ^ (rest & 1 ? kPolynomial : 0);
    table[byte] = rest;
  }
  return table;
}

#ifdef __x86_64__
__attribute__((target("sse4.2"))) uint32_t by_instruction(const unsigned char* at, int64_t bytes, uint32_t before) {
  uint64_t run = ~before;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    run = __builtin_ia32_crc32di(run, word);
  }
  for (; bytes > 0; --bytes, ++at) run = __builtin_ia32_crc32qi(uint32_t(run), *at);
  return ~uint32_t(run);
}
bool has_instruction() { return __builtin_cpu_supports("sse4.2"); }
#elif defined(__aarch64__)
__attribute__((target("+crc"))) uint32_t by_instruction(const unsigned char* at, int64_t bytes, uint32_t before) {
  uint32_t run = ~before;
  for (; bytes >= 8; bytes -= 8, at += 8) {
    uint64_t word;
    std::memcpy(&word, at, 8);
    run = __builtin_aarch64_crc32cx(run, word);
  }
  for (; bytes > 0; --bytes, ++at) run = __builtin_aarch64_crc32cb(run, *at);
  return ~run;
}
bool has_instruction() { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#endif

}  // namespace

uint32_t crc32c_by_table(const void* data, int64_t bytes, uint32_t before) {
  static constexpr std::array<uint32_t, 256> table = make_table();
  uint32_t run = ~before;
  for (const auto* at = static_cast<const unsigned char*>(data); bytes > 0; --bytes, ++at) {
    run = run >> 8 ^ table[(run ^ *at) & 255];
  }
  return ~run;
}

uint32_t crc32c(const void* data, int64_t bytes, uint32_t before) {
#if defined(__x86_64__) || defined(__aarch64__)
  static const bool has = has_instruction();
  if (has) return by_instruction(static_cast<const unsigned char*>(data), bytes, before);
#endif
  return crc32c_by_table(data, bytes, before);
}

}  // namespace hone
