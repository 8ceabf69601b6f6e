// AdamW on a GPU: one pass over parameters, moments and gradients. Multiplication and addition are separate
// (no fma), so that bits equal the CPU's.
#include <cmath>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/optimizer.h"
#include "kernels/cuda/philox.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// Moments of type T, and the key of the random bits that round bf16 moments (f32 moments do not use it).
template <class T>
struct Moments {
  T *m, *v;
  uint64_t seed;
  int64_t step, first;  // first: index of element 0 among all trained elements
};

struct Update {
  float* param;
  const float *grad, *scale;
  double* changes;  // [strips], or null
  SecondCopy packed;
  int64_t n;
  float grad_scale, decay, beta1, one_minus_beta1, beta2, one_minus_beta2, step_size, root_correction, eps;
  bool wide;
};

__global__ void __launch_bounds__(kThreads) squares_kernel(const float* x, int64_t n, bool wide, double* sums) {
  __shared__ double scratch[32];
  const int64_t begin = blockIdx.x * kOptimizerStrip, end = min(begin + kOptimizerStrip, n);
  double sum = 0.0;
  for (int64_t i = begin + threadIdx.x * 8; i < end; i += kThreads * 8) {
    const Eight v = load_eight(x + i, end - i, wide);
#pragma unroll
    for (int k = 0; k < 8; ++k) sum += double(v.at[k]) * double(v.at[k]);
  }
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}

/// Run by one block: total (+)= sum of `sums`. Each thread adds every 256th in order, then the threads' sums
/// are added by a fixed tree.
__global__ void __launch_bounds__(kThreads) add_kernel(const double* sums, int64_t n, bool accumulate, double* total) {
  __shared__ double scratch[32];
  double sum = 0.0;
  for (int64_t i = threadIdx.x; i < n; i += kThreads) sum += sums[i];
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) *total = (accumulate ? *total : 0.0) + sum;
}

__global__ void gradient_scale_kernel(const double* totals, int64_t n, double clip, float* scale) {
  double squares = 0.0;
  for (int64_t i = 0; i < n; ++i) squares += totals[i];
  const double norm = sqrt(squares), factor = clip > 0.0 ? fmin(1.0, clip / (norm + 1e-6)) : 1.0;
  *scale = isfinite(norm) ? float(factor) : __int_as_float(0x7fc00000);
}

/// Gets 32 random bits for each of eight elements: word element % 4 of Philox block element / 4.
__device__ __forceinline__ void draw_eight(const Moments<bf16>& a, int64_t element, uint32_t (&out)[8]) {
  const auto first = uint64_t(element);
  const int skipped = int(first % 4);
#pragma unroll
  for (int b = 0; b < 3; ++b) {
    if (b == 2 && skipped == 0) return;  // two Philox blocks have eight words, so the third is not needed
    const uint64_t block = first / 4 + uint64_t(b);
    uint32_t words[4] = {uint32_t(block), uint32_t(a.step), uint32_t(uint64_t(a.step) >> 32), uint32_t(block >> 32)};
    philox4x32(words, a.seed);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int word = k + skipped - 4 * b;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        if (word == j) out[k] = words[j];
      }
    }
  }
}

/// Rounds to bf16 stochastically with the CPU's bits: adds 16 random bits to the 16 that are dropped.
__device__ __forceinline__ float round_randomly(float x, uint32_t random) {
  constexpr uint32_t kExponent = 0x7f800000u;
  const uint32_t bits = __float_as_uint(x), sum = bits + random;
  if ((bits & kExponent) == kExponent) return x;
  // the largest finite value stays finite
  return __uint_as_float(((sum & kExponent) == kExponent ? bits : sum) & 0xffff0000u);
}

__device__ __forceinline__ void store_moments(const Moments<float>& a, int64_t i, const Eight& m, const Eight& v,
                                              int64_t left, bool wide) {
  store_eight(a.m + i, m, left, wide);
  store_eight(a.v + i, v, left, wide);
}
__device__ __forceinline__ void store_moments(const Moments<bf16>& a, int64_t i, Eight m, Eight v, int64_t left, bool wide) {
  uint32_t words[8];
  draw_eight(a, a.first + i, words);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    m.at[k] = round_randomly(m.at[k], words[k] & 0xffffu);
    v.at[k] = round_randomly(v.at[k], words[k] >> 16);
  }
  store_eight(a.m + i, m, left, wide);  // exact, since m is already rounded
  store_eight(a.v + i, v, left, wide);
}

/// Updates eight parameters; returns the sum of their squared changes.
template <class T>
__device__ double adamw_eight(const Update& a, const Moments<T>& moments, float factor, int64_t i) {
  const int64_t left = a.n - i;
  Eight p = load_eight(a.param + i, left, a.wide), m = load_eight(moments.m + i, left, a.wide);
  Eight v = load_eight(moments.v + i, left, a.wide);
  const Eight grad = load_eight(a.grad + i, left, a.wide);
  double change = 0.0;
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float g = grad.at[k] * factor, old = p.at[k];
    m.at[k] = m.at[k] * a.beta1 + g * a.one_minus_beta1;
    v.at[k] = v.at[k] * a.beta2 + g * g * a.one_minus_beta2;
    const float denominator = sqrtf(v.at[k]) / a.root_correction + a.eps;
    p.at[k] = old * a.decay - m.at[k] * a.step_size / denominator;
    // Values beyond the end may be 0 / 0.
    if (k < left) change += double(p.at[k] - old) * double(p.at[k] - old);
  }
  store_eight(a.param + i, p, left, a.wide);
  a.packed.store(i, p, left, a.wide);
  store_moments(moments, i, m, v, left, a.wide);
  return change;
}

template <class T>
__global__ void __launch_bounds__(kThreads) adamw_kernel(Update a, Moments<T> moments) {
  __shared__ double scratch[32];
  const float scale = a.scale ? *a.scale : 1.0f;
  const int64_t begin = blockIdx.x * kOptimizerStrip, end = isnan(scale) ? begin : min(begin + kOptimizerStrip, a.n);
  double change = 0.0;
  for (int64_t i = begin + threadIdx.x * 8; i < end; i += kThreads * 8) {
    change += adamw_eight(a, moments, a.grad_scale * scale, i);
  }
  if (!a.changes) return;
  change = block_sum(change, scratch);
  if (threadIdx.x == 0) a.changes[blockIdx.x] = change;
}

/// The constants of step `a.step`, rounded as the CPU rounds them.
Update constants(const AdamWArgs& a) {
  const double beta1 = a.beta1, beta2 = a.beta2;
  Update u{};
  u.packed = SecondCopy::of(a.packed);
  u.grad_scale = a.grad_scale;
  u.decay = float(1.0 - double(a.lr) * a.weight_decay);
  u.beta1 = a.beta1;
  u.one_minus_beta1 = float(1.0 - beta1);
  u.beta2 = a.beta2;
  u.one_minus_beta2 = float(1.0 - beta2);
  u.step_size = float(a.lr / (1.0 - std::pow(beta1, double(a.step))));
  u.root_correction = float(std::sqrt(1.0 - std::pow(beta2, double(a.step))));
  u.eps = a.eps;
  return u;
}

}  // namespace

void add_strips(const Stream& stream, const double* sums, int64_t n, const TensorView& total, bool accumulate) {
  HONE_LAUNCH(add_kernel, 1, kThreads, 0, stream, sums, optimizer_strips(n), accumulate,
              total.as<double>());
}

void sum_of_squares(const Stream& stream, const SumOfSquaresArgs& args) {
  const int64_t n = args.x.dim(0);
  if (!args.scratch && n > 0) fail(Code::kInternal, "sum_of_squares: no scratch.");
  const int64_t mark = args.scratch ? args.scratch->mark() : 0;
  double* const sums = n > 0 ? args.scratch->take_array<double>(optimizer_strips(n)) : nullptr;
  HONE_LAUNCH(squares_kernel, unsigned(optimizer_strips(n)), kThreads, 0, stream, args.x.as<const float>(), n, is_wide(args.x), sums);
  add_strips(stream, sums, n, args.total, args.accumulate);
  if (args.scratch) args.scratch->release(mark);
}

void gradient_scale(const Stream& stream, const GradientScaleArgs& args) {
  HONE_LAUNCH(gradient_scale_kernel, 1, 1, 0, stream, args.totals.as<const double>(), args.totals.dim(0), args.clip,
              args.scale.as<float>());
}

void adamw(const Stream& stream, const AdamWArgs& args) {
  const int64_t n = args.param.dim(0), mark = args.scratch ? args.scratch->mark() : 0;
  const bool measured = !args.squared_change.empty();
  Update a = constants(args);
  a.param = args.param.as<float>();
  a.grad = args.grad.as<const float>();
  a.scale = args.scale.as<const float>();
  a.changes = measured ? args.scratch->take_array<double>(optimizer_strips(n)) : nullptr;
  a.n = n;
  a.wide = is_wide(args.param) && is_wide(args.m) && is_wide(args.v) && is_wide(args.grad) && is_wide(args.packed);
  const uint64_t seed = args.seed ^ kMomentSeed;
  const auto blocks = unsigned(optimizer_strips(n));
  if (args.m.dtype == DType::kBF16) {
    const Moments<bf16> moments{args.m.as<bf16>(), args.v.as<bf16>(), seed, args.step, args.first};
    HONE_LAUNCH(adamw_kernel<bf16>, blocks, kThreads, 0, stream, a, moments);
  } else {
    const Moments<float> moments{args.m.as<float>(), args.v.as<float>(), seed, args.step, args.first};
    HONE_LAUNCH(adamw_kernel<float>, blocks, kThreads, 0, stream, a, moments);
  }
  if (!measured) return;
  add_strips(stream, a.changes, n, args.squared_change);
  args.scratch->release(mark);
}

}  // namespace hone::kernels::cuda
