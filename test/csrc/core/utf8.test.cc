// UTF-8 validation against a decoder that only knows bit patterns, for every pair of bytes and random
// strings. Faults put into the code: overlong E0 accepted; one U+FFFD per byte instead of per maximal part;
// tail of 3 bytes not looked at.
#include "core/utf8.h"

#include "check.h"

namespace core_utf8_test {

using namespace hone;
using namespace hone::test;

namespace {

/// Length of the sequence at the start of `text`, found by decoding it and encoding the result again; 0 if
/// that gives other bytes.
int length_by_round_trip(std::string_view text) {
  const uint8_t a = uint8_t(text[0]);
  const int n = a < 0x80 ? 1 : a >> 5 == 6 ? 2 : a >> 4 == 14 ? 3 : a >> 3 == 30 ? 4 : 0;
  if (n == 0 || size_t(n) > text.size()) return 0;
  uint32_t c = n == 1 ? a : a & (0xFFu >> (n + 1));
  for (int i = 1; i < n; ++i) {
    if ((uint8_t(text[size_t(i)]) & 0xC0) != 0x80) return 0;
    c = c << 6 | (uint8_t(text[size_t(i)]) & 63);
  }
  if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF)) return 0;
  std::string again;
  append_utf8(again, c);
  return again == text.substr(0, size_t(n)) ? n : 0;
}

std::string lossy(std::string_view bytes) {
  std::string out;
  append_lossy_utf8(out, bytes);
  return out;
}

std::string random_bytes(int64_t most) {
  static constexpr uint8_t kEdges[] = {0x00, 0x41, 0x7F, 0x80, 0x8F, 0x90, 0x9F, 0xA0, 0xBF, 0xC1, 0xC2, 0xDF,
                                       0xE0, 0xE1, 0xED, 0xEF, 0xF0, 0xF1, 0xF4, 0xF5, 0xFF};
  std::string out;
  for (int64_t i = random_int(1, most); i > 0; --i) out += char(kEdges[random_int(0, sizeof kEdges - 1)]);
  return out;
}

}  // namespace

TEST(every_pair_of_bytes_is_judged_by_its_code_point) {
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string two = {char(a), char(b)}, four = two + "\x80\x80";
      EXPECT_EQ(utf8_length(two), length_by_round_trip(two));
      EXPECT_EQ(utf8_length(four), length_by_round_trip(four));
    }
  }
}

TEST(code_points_are_read_forwards_and_backwards) {
  for (const uint32_t c : {0u, 0x7Fu, 0x80u, 0x7FFu, 0x800u, 0xD7FFu, 0xE000u, 0xFFFFu, 0x10000u, 0x10FFFFu}) {
    std::string text = "x";
    append_utf8(text, c);
    const CodePoint forwards = code_point_at(text.data() + 1), backwards = code_point_before(text.data() + text.size());
    EXPECT_EQ(forwards.value, c);
    EXPECT_EQ(backwards.value, c);
    EXPECT_EQ(forwards.bytes + 1, text.size());
    EXPECT_EQ(backwards.bytes, forwards.bytes);
    EXPECT_EQ(utf8_prefix(text), text.size());
  }
}

TEST(ill_formed_parts_become_one_replacement_each) {
  const std::string r = "\xEF\xBF\xBD";
  // The Unicode Standard, table 3-8 and the examples before it.
  EXPECT_EQ(lossy("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"), "a" + r + r + r + "b" + r + "c" + r + r + "d");
  EXPECT_EQ(lossy("\xC0\xAF\xE0\x80\xBF\xF0\x81\x82\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(lossy("\xED\xA0\x80\xED\xBF\xBF\xED\xAF\x41"), r + r + r + r + r + r + r + r + "A");
  EXPECT_EQ(lossy("\xF4\x91\x92\x93\xFF\x41\x80\xBF\x42"), r + r + r + r + r + "A" + r + r + "B");
  EXPECT_EQ(lossy("\xE2\x82"), r);
  EXPECT_EQ(lossy(""), "");
}

TEST(what_was_lossy_is_well_formed_and_stays) {
  for (int i = 0; i < 20000; ++i) {
    const std::string bytes = random_bytes(12), text = lossy(bytes);
    EXPECT_EQ(utf8_prefix(text), text.size());
    EXPECT_EQ(lossy(text), text);
    size_t good = 0;
    while (good < bytes.size() && length_by_round_trip(std::string_view(bytes).substr(good))) {
      good += size_t(length_by_round_trip(std::string_view(bytes).substr(good)));
    }
    EXPECT_EQ(utf8_prefix(bytes), good);
    EXPECT_EQ(text.substr(0, good), bytes.substr(0, good));
  }
}

}  // namespace core_utf8_test
