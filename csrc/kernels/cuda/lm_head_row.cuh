// Statistics of a row's logits (sums per tile of 128 logits, merged in a fixed order), and the noise that
// samples a token. The statistics pass and the sampler use the same functions, so that their results agree to
// the bit.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "kernels/cuda/lm_head_weight.cuh"
#include "kernels/cuda/philox.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/scratch.h"
#include "kernels/lm_head.h"

namespace hone::kernels::cuda {

/// For y = z / temperature over one tile: max, sum e^(y - max), sum e^(y - max) (y - max). `extra` is the
/// target's logit in the statistics pass, and the best noisy logit in the sampler.
struct TileSums {
  float maximum, total, weighted, extra;
};
static_assert(sizeof(TileSums) == kTileSumsBytes);

/// TileSums' max and two sums over a whole row; tiles are added in f64.
struct RowSums {
  float maximum;
  double total, weighted;
};

/// Divides a lane's four logits by the temperature.
__device__ __forceinline__ void temper(const float4& z, float inverse_temperature, float (&y)[4]) {
  y[0] = z.x * inverse_temperature;
  y[1] = z.y * inverse_temperature;
  y[2] = z.z * inverse_temperature;
  y[3] = z.w * inverse_temperature;
}
__device__ __forceinline__ float component(const float4& z, int i) { return i == 0 ? z.x : i == 1 ? z.y : i == 2 ? z.z : z.w; }

/// Statistics of one tile, computed by a warp; `count` (0 to 4) of each lane's values are in the vocabulary.
__device__ __forceinline__ TileSums tile_sums(const float (&y)[4], int count) {
  float top = -INFINITY;
#pragma unroll
  for (int i = 0; i < 4; ++i) top = i < count ? fmaxf(top, y[i]) : top;
  top = warp_max(top);
  float total = 0.0f, weighted = 0.0f;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i >= count) continue;
    const float d = y[i] - top, e = expf(d);
    total += e;
    weighted = fmaf(e, d, weighted);
  }
  return {top, warp_sum(total), warp_sum(weighted), 0.0f};
}

/// Merges a row's tiles in one warp; every lane gets the result. Lane i merges tiles i, i + 32, ... in
/// ascending order, then lanes are merged by a tree.
__device__ __forceinline__ RowSums merge_tiles(const TileSums* tiles, int count) {
  const int lane = threadIdx.x % 32;
  float top = -INFINITY;
  for (int j = lane; j < count; j += 32) top = fmaxf(top, tiles[j].maximum);
  top = warp_max(top);
  double total = 0.0, weighted = 0.0;
  for (int j = lane; j < count; j += 32) {
    const TileSums s = tiles[j];
    const float d = s.maximum - top;
    const double scale = double(expf(d));
    total += scale * double(s.total);
    weighted += scale * (double(s.weighted) + double(d) * double(s.total));
  }
  return {top, warp_sum(total), warp_sum(weighted)};
}

__device__ __forceinline__ float logprob_of(float maximum, double total, float z, float inverse_temperature) {
  return float(double(z * inverse_temperature - maximum) - log(total));
}
__device__ __forceinline__ float entropy_of(const RowSums& s) { return float(log(s.total) - s.weighted / s.total); }
__device__ __forceinline__ float lse_of(const RowSums& s) { return float(double(s.maximum) + log(s.total)); }

// ---- noise: computed step by step as on the CPU (kernels/cpu/simd_int.h), so that its bits are the same ----

/// log(1 + r) + e log 2.
__device__ __forceinline__ float log_parts(float r, float e) {
  const float square = r * r;
  float p = 7.0376836292e-2f;
  p = fmaf(p, r, -1.1514610310e-1f);
  p = fmaf(p, r, 1.1676998740e-1f);
  p = fmaf(p, r, -1.2420140846e-1f);
  p = fmaf(p, r, 1.4249322787e-1f);
  p = fmaf(p, r, -1.6668057665e-1f);
  p = fmaf(p, r, 2.0000714765e-1f);
  p = fmaf(p, r, -2.4999993993e-1f);
  p = fmaf(p, r, 3.3333331174e-1f);
  p = p * r * square;
  p = fmaf(e, -2.12194440e-4f, p);
  p = fmaf(square, -0.5f, p);
  return fmaf(e, 0.693359375f, r + p);
}
/// Splits x = (1 + r) 2^e with 1 + r in [sqrt(1/2), sqrt(2)).
__device__ __forceinline__ void split_exponent(float x, float* r, float* e) {
  const uint32_t bits = __float_as_uint(x), above = bits - 0x3f3504f3u;
  *e = float(int32_t(above) >> 23);
  *r = __uint_as_float(bits - (above & 0xff800000u)) - 1.0f;
}
/// -log(-log((word + 1) 2^-32)): standard Gumbel noise made from 32 random bits.
__device__ __forceinline__ float gumbel(uint32_t word) {
  const float u = float(word + 1u) * 0x1p-32f, gap = float(~word) * 0x1p-32f;
  float r, e;
  split_exponent(u, &r, &e);
  if (gap < 0.25f) {
    r = 0.0f - gap;
    e = 0.0f;
  }
  // subtracts from 0 because for the word 2^32 - 1 the result must be 0, not -0
  split_exponent(0.0f - log_parts(r, e), &r, &e);
  return 0.0f - log_parts(r, e);
}

/// The four random words of vocabulary ids 4 block .. 4 block + 3 (core/philox.h).
__device__ __forceinline__ void sample_words(const SampleKey& key, uint32_t block, uint32_t (&c)[4]) {
  c[0] = block, c[1] = key.position, c[2] = key.attempt, c[3] = key.problem;
  philox4x32(c, key.run_seed);
}

// ---- sampling ----------------------------------------------------------------------------------------

/// A token, its noisy value, and its logit. `token` kNone: no logit was above -inf.
struct Candidate {
  float value, z;
  int32_t token;
  static constexpr int32_t kNone = 0x7fffffff;
};
static_assert(sizeof(Candidate) == kCandidateBytes);
__device__ __forceinline__ Candidate no_candidate() { return {-INFINITY, 0.0f, Candidate::kNone}; }

/// The candidate with the larger value, or the lower id if values are equal; NaN never wins.
__device__ __forceinline__ Candidate better(const Candidate& a, const Candidate& b) {
  return b.value > a.value || (b.value == a.value && b.token < a.token) ? b : a;
}
__device__ __forceinline__ Candidate warp_best(Candidate best) {
#pragma unroll
  for (int stride = 16; stride > 0; stride /= 2) {
    best = better(best, {__shfl_xor_sync(kFullWarp, best.value, stride), __shfl_xor_sync(kFullWarp, best.z, stride),
                         __shfl_xor_sync(kFullWarp, best.token, stride)});
  }
  return best;
}

/// The best of the `count` ids from `first` (a multiple of four) on: by y plus the key's noise, or by y alone
/// if greedy.
__device__ __forceinline__ Candidate best_of_four(const float4& z, const float (&y)[4], int first, int count,
                                                  const SampleKey& key, bool greedy) {
  Candidate best = no_candidate();
  if (count <= 0) return best;
  uint32_t words[4];
  if (!greedy) sample_words(key, uint32_t(first / 4), words);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (i >= count) continue;
    const float value = greedy ? y[i] : y[i] + gumbel(words[i]);
    if (value > best.value) best = {value, component(z, i), first + i};
  }
  return best;
}

/// A row's sampling parameters in the form that the kernel uses.
struct RowRule {
  bool greedy, truncates;
  float inverse_temperature;
  int drawn;  // number of ids that may be sampled
};
__device__ __forceinline__ RowRule rule_of(const SamplingParams& p, int vocabulary) {
  const bool greedy = p.temperature == 0.0f;
  const int drawn = p.drawn_of(vocabulary);
  const bool cuts = (p.top_k > 0 && p.top_k < drawn) || p.top_p < 1.0f || p.min_p > 0.0f;
  return {greedy, cuts && !greedy, greedy ? 1.0f : 1.0f / p.temperature, drawn};
}

}  // namespace hone::kernels::cuda
