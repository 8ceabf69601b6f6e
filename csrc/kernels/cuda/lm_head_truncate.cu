#include "kernels/cuda/lm_head_truncate.h"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/lm_head_row.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 512;
constexpr int kDigitBits = 11, kDigits = 5, kBins = 1 << kDigitBits, kIdBits = kDigitBits * kDigits - 32;
constexpr float kOne = 0x1p40f;  // 1 in fixed-point mass: 2^23 ids of the largest weight fit in 64 bits

using Mass = unsigned long long;

/// A sort key: larger for a larger logit and, if logits are equal (-0 and 0 are), for the lower id; unique
/// per id.
__device__ __forceinline__ uint64_t order_key(float z, int id) {
  const uint32_t bits = __float_as_uint(z + 0.0f);
  const uint32_t sortable = bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
  return uint64_t(sortable) << kIdBits | uint32_t((1 << kIdBits) - 1 - id);
}

/// One row, whose cut is searched. The weight of an id that may be sampled is e^(y - max y), in (0, 1].
struct Row {
  const float* z;
  int drawn;
  float inverse_temperature, maximum;

  __device__ __forceinline__ float weight(float logit) const {
    return expf(logit * inverse_temperature - maximum);
  }
};

struct Histogram {
  unsigned count[kBins];
  unsigned mass_low[kBins], mass_high[kBins];  // halves of 64-bit sums; see add_mass
  unsigned share_count[32];
  Mass share_mass[32];
  // Result of the digits processed so far; every thread reads it after the barrier.
  uint64_t prefix;
  unsigned count_above, count_in;
  Mass mass_above, mass_in, total;

  __device__ __forceinline__ Mass mass(int bin) const { return Mass(mass_high[bin]) << 32 | mass_low[bin]; }
};

/// Adds to a 64-bit sum by two 32-bit atomic additions, which shared memory supports; a 64-bit one would be a
/// loop of compare-and-swap. The thread whose addition wraps the lower half adds the carry, so that the sum
/// is exact in any order.
__device__ __forceinline__ void add_mass(Histogram& h, int bin, Mass mass) {
  const unsigned low = unsigned(mass), before = atomicAdd(&h.mass_low[bin], low);
  const unsigned high = unsigned(mass >> 32) + (before + low < low ? 1u : 0u);
  if (high != 0) atomicAdd(&h.mass_high[bin], high);
}

/// Where to cut: after `count` ids or, if that is 0, where mass first reaches `share` of `total` (0: of the
/// whole row).
struct Target {
  unsigned count;
  double share;
  Mass total;
};

__device__ __forceinline__ bool reached(const Target& target, unsigned count, Mass mass, Mass total) {
  return target.count > 0 ? count >= target.count : double(mass) >= target.share * double(total);
}

/// Sums counts and mass, for each value of digit `level`, of the ids whose higher digits are h.prefix.
__device__ __forceinline__ void count_digit(const Row& row, int level, Histogram& h) {
  for (int i = threadIdx.x; i < kBins; i += kThreads) {
    h.count[i] = 0;
    h.mass_low[i] = 0;
    h.mass_high[i] = 0;
  }
  __syncthreads();
  const int shift = kDigitBits * (kDigits - 1 - level);
  const uint64_t prefix = h.prefix;
  for (int v = threadIdx.x; v < row.drawn; v += kThreads) {
    const float z = row.z[v];
    const uint64_t digits = order_key(z, v) >> shift;
    if (digits >> kDigitBits != prefix) continue;
    atomicAdd(&h.count[digits % kBins], 1u);
    add_mass(h, int(digits % kBins), Mass(row.weight(z) * kOne));
  }
  __syncthreads();
}

/// Extends h.prefix by the digit in whose bin the target is reached, counting from the highest bin. Run by
/// one warp: each lane sums its part of the bins, then one lane searches parts and bins.
__device__ __forceinline__ void choose_digit(const Target& target, int level, Histogram& h) {
  constexpr int kShare = kBins / 32;
  const int lane = threadIdx.x % 32;
  unsigned share_count = 0;
  Mass share_mass = 0;
  for (int bin = kBins - 1 - lane * kShare, i = 0; i < kShare; ++i, --bin) {
    share_count += h.count[bin];
    share_mass += h.mass(bin);
  }
  h.share_count[lane] = share_count;
  h.share_mass[lane] = share_mass;
  __syncwarp();
  if (lane != 0) return;
  if (level == 0) {
    h.total = target.total;
    for (int i = 0; i < 32 && target.total == 0; ++i) h.total += h.share_mass[i];
  }
  unsigned count = h.count_above;
  Mass mass = h.mass_above;
  int share = 0;
  for (; share < 31; ++share) {
    if (reached(target, count + h.share_count[share], mass + h.share_mass[share], h.total)) break;
    count += h.share_count[share];
    mass += h.share_mass[share];
  }
  int bin = kBins - 1 - share * kShare;
  for (const int last = bin - kShare + 1; bin > last; --bin) {
    if (reached(target, count + h.count[bin], mass + h.mass(bin), h.total)) break;
    count += h.count[bin];
    mass += h.mass(bin);
  }
  h.prefix = h.prefix << kDigitBits | uint64_t(bin);
  h.count_above = count;
  h.mass_above = mass;
  h.count_in = h.count[bin];
  h.mass_in = h.mass(bin);
}

/// Finds the key of the last id that is kept; *kept gets the mass of the kept ids.
__device__ __forceinline__ uint64_t find_cut(const Row& row, const Target& target, Histogram& h, Mass* kept) {
  __syncthreads();
  if (threadIdx.x == 0) {
    h.prefix = 0;
    h.count_above = 0;
    h.mass_above = 0;
  }
  __syncthreads();
  int level = 0;
  do {
    count_digit(row, level, h);
    if (threadIdx.x < 32) choose_digit(target, level, h);
    __syncthreads();
    ++level;
    // once a single id is left in the bin, that id's own digits complete the key
  } while (level < kDigits && h.count_in != 1);
  *kept = h.mass_above + h.mass_in;
  return h.prefix << kDigitBits * (kDigits - level);
}

__device__ __forceinline__ uint64_t row_cut(const Row& row, const SamplingParams& params, Histogram& h) {
  uint64_t cut = 0;
  Mass total = 0;
  if (params.top_k > 0 && params.top_k < row.drawn) cut = find_cut(row, {unsigned(params.top_k), 0.0, 0}, h, &total);
  if (params.top_p < 1.0f) {
    Mass kept;
    const uint64_t by_mass = find_cut(row, {0, double(params.top_p), total}, h, &kept);
    cut = by_mass > cut ? by_mass : cut;
  }
  return cut;
}

/// The best candidate among one thread's ids, which it processes in fours that share a Philox block.
__device__ __forceinline__ Candidate draw(const Row& row, const SamplingParams& params, const SampleKey& key,
                                          uint64_t cut) {
  Candidate best = no_candidate();
  for (int first = threadIdx.x * 4; first < row.drawn; first += kThreads * 4) {
    const float4 z = *reinterpret_cast<const float4*>(row.z + first);
    float y[4];
    temper(z, row.inverse_temperature, y);
    bool any = false;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float logit = component(z, i);
      const bool keep =
          first + i < row.drawn && order_key(logit, first + i) >= cut && row.weight(logit) >= params.min_p;
      if (!keep) y[i] = -INFINITY;
      any = any || keep;
    }
    if (any) best = better(best, best_of_four(z, y, first, row.drawn - first, key, false));
  }
  return best;
}

/// The largest y among the ids that may be sampled. `best`: scratch, one float per warp.
__device__ __forceinline__ float drawn_maximum(const float* z, const RowRule& rule, float* best) {
  float top = -INFINITY;
  for (int v = threadIdx.x; v < rule.drawn; v += kThreads) top = fmaxf(top, z[v] * rule.inverse_temperature);
  top = warp_max(top);
  if (threadIdx.x % 32 == 0) best[threadIdx.x / 32] = top;
  __syncthreads();
  for (int i = 0; i < kThreads / 32; ++i) top = fmaxf(top, best[i]);
  return top;
}

/// Samples the token of a truncated row; one block per row.
__global__ void __launch_bounds__(kThreads, 2) truncate_kernel(TruncateRows a) {
  __shared__ Histogram histogram;
  __shared__ Candidate bests[kThreads / 32];
  __shared__ float maxima[kThreads / 32];
  await_predecessor();
  const int r = blockIdx.x;
  const SamplingParams params = a.params[r];
  const RowRule rule = rule_of(params, a.vocabulary);
  if (!rule.truncates) return;
  const RowSums sums = merge_tiles(a.sums + int64_t(r) * a.tiles, a.tiles);
  const float* const z = a.logits + r * a.pitch;
  const Row row{z, rule.drawn, rule.inverse_temperature, rule.drawn < a.vocabulary ? drawn_maximum(z, rule, maxima) : sums.maximum};
  // A row with non-finite logits is not truncated: its log-prob must show that it is non-finite.
  const uint64_t cut = fabs(sums.total) < double(INFINITY) ? row_cut(row, params, histogram) : 0;
  const Candidate mine = warp_best(draw(row, params, a.keys[r], cut));
  if (threadIdx.x % 32 == 0) bests[threadIdx.x / 32] = mine;
  __syncthreads();
  if (threadIdx.x != 0) return;
  Candidate best = bests[0];
  for (int i = 1; i < kThreads / 32; ++i) best = better(best, bests[i]);
  a.out.tokens[r] = best.token == Candidate::kNone ? 0 : best.token;
  a.out.logprobs[r] = logprob_of(sums.maximum, sums.total, best.z, rule.inverse_temperature);
}

}  // namespace

void truncate_rows(const Stream& stream, const TruncateRows& args) {
  HONE_LAUNCH_EARLY(truncate_kernel, dim3(unsigned(args.rows)), dim3(kThreads), 0, stream, args);
}

}  // namespace hone::kernels::cuda
