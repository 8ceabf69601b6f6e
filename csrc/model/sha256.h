// Computes SHA-256 incrementally, for checkpoint manifests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace hone::model {

/// Call update() with the bytes, then hex() once for the digest (64 lowercase digits); the object cannot be
/// used after that. Source: FIPS 180-4.
class Sha256 {
 public:
  void update(const void* bytes, size_t size);
  std::string hex();

 private:
  void block(const uint8_t* bytes);

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  uint8_t buffer_[64] = {};
  size_t filled_ = 0;
  uint64_t total_ = 0;
};

std::string sha256_hex(const std::string& bytes);

}  // namespace hone::model
