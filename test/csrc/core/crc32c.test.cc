// CRC-32C against the values that RFC 3720 lists, and its two implementations against each other.
#include "core/crc32c.h"

#include <algorithm>

#include "check.h"

namespace core_crc32c_test {

using namespace hone;
using namespace hone::test;

TEST(the_values_of_the_rfc) {
  std::vector<unsigned char> bytes(32, 0);
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x8a9136aau);
  std::fill(bytes.begin(), bytes.end(), 0xff);
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x62a8ab43u);
  for (int i = 0; i < 32; ++i) bytes[size_t(i)] = static_cast<unsigned char>(i);
  EXPECT_EQ(crc32c(bytes.data(), 32), 0x46dd794eu);
  EXPECT_EQ(crc32c("123456789", 9), 0xe3069283u);
  EXPECT_EQ(crc32c(nullptr, 0), 0u);
}

TEST(both_ways_agree_for_any_length_and_start_and_in_pieces) {
  std::vector<unsigned char> bytes(200);
  for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random_int(0, 255));
  for (int64_t begin = 0; begin < 9; ++begin) {
    for (int64_t n : {0, 1, 7, 8, 9, 63, 150}) {
      const uint32_t whole = crc32c(bytes.data() + begin, n);
      EXPECT_EQ(crc32c_by_table(bytes.data() + begin, n), whole);
      const int64_t cut = n / 3;
      EXPECT_EQ(crc32c(bytes.data() + begin + cut, n - cut, crc32c(bytes.data() + begin, cut)), whole);
    }
  }
}

}  // namespace core_crc32c_test
