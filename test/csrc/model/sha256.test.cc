// SHA-256: examples of FIPS 180-4, and any division of the input into pieces. Faults put into the code:
// length counted in bytes, a block skipped when a piece ends on its edge. Each is detected.
#include "model/sha256.h"

#include "check.h"

namespace model_sha256_test {
namespace {

using namespace hone;
using model::Sha256;

TEST(published_digests_are_reproduced) {
  EXPECT_EQ(model::sha256_hex(""), std::string("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"));
  EXPECT_EQ(model::sha256_hex("abc"), std::string("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"));
  EXPECT_EQ(model::sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            std::string("248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"));
  EXPECT_EQ(model::sha256_hex(std::string(1000000, 'a')),
            std::string("cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

TEST(pieces_give_the_digest_of_the_whole) {
  for (int round = 0; round < 50; ++round) {
    std::string text(size_t(test::random_int(0, 400)), '\0');
    for (char& c : text) c = char(test::random_int(0, 255));
    Sha256 hash;
    for (size_t at = 0; at < text.size();) {
      const size_t n = std::min(text.size() - at, size_t(test::random_int(0, 70)));
      hash.update(text.data() + at, n);
      at += n;
    }
    EXPECT_EQ(hash.hex(), model::sha256_hex(text));
  }
}

}  // namespace
}  // namespace model_sha256_test
