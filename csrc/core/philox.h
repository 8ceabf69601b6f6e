// Counter-based random numbers: the samples of a rollout depend on its key and position, never on the order
// of calls.
#pragma once

#include <array>
#include <cstdint>

namespace hone {

/// Philox4x32-10: four 32-bit words from a 128-bit counter and a 64-bit key.
/// Source: Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3"; Random123 kat_vectors.
inline std::array<uint32_t, 4> philox4x32(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t(0xD2511F53u) * counter[0];
    const uint64_t b = uint64_t(0xCD9E8D57u) * counter[2];
    counter = {uint32_t(b >> 32) ^ counter[1] ^ key[0], uint32_t(b), uint32_t(a >> 32) ^ counter[3] ^ key[1],
               uint32_t(a)};
    key[0] += 0x9E3779B9u;
    key[1] += 0xBB67AE85u;
  }
  return counter;
}

/// Maps 32 random bits to (x + 1) 2^-32, in (0, 1].
inline double open_closed_u32(uint32_t x) { return (double(x) + 1.0) * 0x1p-32; }

/// Identity of one sampled token. Words drawn for it: philox4x32({block, position, attempt, problem}, run seed),
/// block 0, 1, ... covering vocabulary ids 4*block .. 4*block+3.
struct SampleKey {
  uint64_t run_seed = 0;
  uint32_t problem = 0, attempt = 0, position = 0;

  std::array<uint32_t, 4> words(uint32_t block) const {
    return philox4x32({block, position, attempt, problem}, {uint32_t(run_seed), uint32_t(run_seed >> 32)});
  }
};

}  // namespace hone
