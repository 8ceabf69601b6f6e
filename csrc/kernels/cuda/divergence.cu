// Computes a row's divergence from its teacher, and adds its gradient to that of the objective; one block per
// row. f32 terms are summed in f64 in a fixed order, so that a row has the same bits in every batch.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/divergence.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/divergence.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// beta and its logarithms, as Gap needs them.
struct Mixture {
  float beta, log_beta, log_rest;
  __device__ __forceinline__ bool is_mixed() const { return beta > 0.0f && beta < 1.0f; }
};
__device__ __forceinline__ Mixture mixture_of(float beta) { return {beta, logf(beta), log1pf(-beta)}; }

/// For one token with log-probs s and t. gap: log S minus log T, or minus log M; term: its term of the
/// divergence.
struct Gap {
  float gap, term;
};
__device__ __forceinline__ Gap gap_of(const Mixture& m, float s, float t) {
  if (!m.is_mixed()) return {s - t, m.beta == 0.0f ? expf(t) * (t - s) : expf(s) * (s - t)};
  const float x = s + m.log_rest, y = t + m.log_beta, high = fmaxf(x, y);
  const float mixed = high + logf(1.0f + expf(fminf(x, y) - high));
  return {s - mixed, (1.0f - m.beta) * expf(s) * (s - mixed) + m.beta * expf(t) * (t - mixed)};
}

/// For a row. gap: sum of S gap; divergence: the row's divergence.
struct GapSums {
  double gap, divergence;
};

/// Maximum over the block; every thread gets it.
__device__ __forceinline__ float block_max(float value, float* scratch) {
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  value = warp_max(value);
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  value = warp_max(scratch[lane % (kThreads / 32)]);
  __syncthreads();
  return value;
}

/// Log of the sum of the exponentials of n values.
template <class Value>
__device__ __forceinline__ float log_sum(int n, const Value& value, double* scratch) {
  float top = -INFINITY;
  for (int i = threadIdx.x; i < n; i += kThreads) top = fmaxf(top, value(i));
  top = block_max(top, reinterpret_cast<float*>(scratch));
  double total = 0.0;
  for (int i = threadIdx.x; i < n; i += kThreads) total += double(expf(value(i) - top));
  return float(double(top) + log(block_sum(total, scratch)));
}

/// Sums over n tokens; student(i) and teacher(i) are the log-probs of token i.
template <class Student, class Teacher>
__device__ __forceinline__ GapSums sums_of(const Mixture& m, int n, const Student& student, const Teacher& teacher, double* scratch) {
  GapSums sums{0.0, 0.0};
  for (int i = threadIdx.x; i < n; i += kThreads) {
    const float s = student(i);
    const Gap one = gap_of(m, s, teacher(i));
    sums.gap += double(expf(s) * one.gap);
    sums.divergence += double(one.term);
  }
  return {block_sum(sums.gap, scratch), block_sum(sums.divergence, scratch)};
}

/// slope times ddivergence/dz of one token. `slope` includes 1 / temperature and, if M is a mixture, 1 -
/// beta.
__device__ __forceinline__ float pull_of(const Mixture& m, float s, float t, float mean, float slope) {
  return slope * (m.beta == 0.0f ? expf(s) - expf(t) : expf(s) * (gap_of(m, s, t).gap - mean));
}

__device__ __forceinline__ float slope_of(const TaughtRows& a, const Mixture& m, int row) {
  return a.divergence_slopes[row] * a.slopes.inverse_temperature * (m.is_mixed() ? 1.0f - m.beta : 1.0f);
}

/// Writes dz of a row: dz_of(id, y), and 0 beyond the vocabulary.
template <class DzOf>
__device__ __forceinline__ void write_row(const TaughtRows& a, int row, const DzOf& dz_of) {
  for (int first = threadIdx.x * 4; first < a.pitch; first += kThreads * 4) {
    const float4 z = *reinterpret_cast<const float4*>(a.z + row * a.pitch + first);
    const float four[4] = {z.x, z.y, z.z, z.w};
    float d[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] = first + i < a.vocabulary ? dz_of(first + i, four[i] * a.slopes.inverse_temperature) : 0.0f;
    store_bf16(a.dz + row * a.pitch + first, d);
  }
}

/// Computes the divergence over the whole vocabulary.
__global__ void __launch_bounds__(kThreads) whole_kernel(TaughtRows a) {
  __shared__ double scratch[32];
  const int row = blockIdx.x, n = a.vocabulary;
  const float inverse = a.slopes.inverse_temperature;
  const float *const z = a.z + row * a.pitch, *const q = a.teacher + row * a.pitch;
  const RowSlopes own = a.slopes.row(row);
  const Mixture m = mixture_of(a.beta);
  const float lse = log_sum(n, [&](int i) { return q[i] * inverse; }, scratch);
  const auto teacher = [&](int i) { return q[i] * inverse - lse; };
  const GapSums sums = sums_of(m, n, [&](int i) { return z[i] * inverse - own.lse; }, teacher, scratch);
  if (threadIdx.x == 0) a.divergences[row] = float(sums.divergence);
  const float mean = float(sums.gap), slope = slope_of(a, m, row);
  write_row(a, row, [&](int id, float y) { return own.of(id, y) + pull_of(m, y - own.lse, teacher(id), mean, slope); });
}

/// Computes the divergence over k tokens, with both distributions divided by their mass on them.
__global__ void __launch_bounds__(kThreads) likeliest_kernel(TaughtRows a) {
  __shared__ double scratch[32];
  const int row = blockIdx.x;
  const float inverse = a.slopes.inverse_temperature;
  const float *const z = a.z + row * a.pitch, *const logprobs = a.logprobs + int64_t(row) * a.k;
  const int32_t* const ids = a.ids + int64_t(row) * a.k;
  const RowSlopes own = a.slopes.row(row);
  const Mixture m = mixture_of(a.beta);
  const float ours = log_sum(a.k, [&](int i) { return z[ids[i]] * inverse; }, scratch);
  const float theirs = log_sum(a.k, [&](int i) { return logprobs[i]; }, scratch);
  const auto student = [&](int i) { return z[ids[i]] * inverse - ours; };
  const auto teacher = [&](int i) { return logprobs[i] - theirs; };
  const GapSums sums = sums_of(m, a.k, student, teacher, scratch);
  if (threadIdx.x == 0) a.divergences[row] = float(sums.divergence);
  const float mean = float(sums.gap), slope = slope_of(a, m, row);
  write_row(a, row, [&](int id, float y) { return own.of(id, y); });
  __syncthreads();  // other threads wrote dz of these ids
  for (int i = threadIdx.x; i < a.k; i += kThreads) {
    const float d = own.of(ids[i], z[ids[i]] * inverse) + pull_of(m, student(i), teacher(i), mean, slope);
    a.dz[row * a.pitch + ids[i]] = __float2bfloat16_rn(d);
  }
}

/// Computes the divergence over k tokens and all others as one more, at beta 1: with gaps g = log S - log T
/// and D = sum S g, dD/dz_v = S_v (g of v's token - D) / temperature.
__global__ void __launch_bounds__(kThreads) rest_kernel(TaughtRows a) {
  __shared__ double scratch[32];
  const int row = blockIdx.x;
  const float inverse = a.slopes.inverse_temperature;
  const float *const z = a.z + row * a.pitch, *const logprobs = a.logprobs + int64_t(row) * a.k;
  const int32_t* const ids = a.ids + int64_t(row) * a.k;
  const double lse = double(a.slopes.lse[row]);
  const auto student = [&](int i) { return double(z[ids[i]]) * double(inverse) - lse; };
  double ours = 0.0, theirs = 0.0, divergence = 0.0;
  for (int i = threadIdx.x; i < a.k; i += kThreads) {
    const double s = student(i), t = double(logprobs[i]);
    ours += exp(s), theirs += exp(t), divergence += exp(s) * (s - t);
  }
  ours = fmax(1.0 - block_sum(ours, scratch), kLeastRest), theirs = fmax(1.0 - block_sum(theirs, scratch), kLeastRest);
  const double rest = log(ours) - log(theirs);
  divergence = block_sum(divergence, scratch) + ours * rest;
  if (threadIdx.x == 0) a.divergences[row] = float(divergence);
  const double slope = double(a.divergence_slopes[row]) * double(inverse);
  const RowSlopes own = a.slopes.row(row);
  const float spread = float(slope * (rest - divergence));
  write_row(a, row, [&](int id, float y) { return own.of(id, y) + spread * expf(y - own.lse); });
  __syncthreads();  // other threads wrote dz of these ids
  for (int i = threadIdx.x; i < a.k; i += kThreads) {
    const double s = student(i), pull = slope * exp(s) * (s - double(logprobs[i]) - divergence);
    a.dz[row * a.pitch + ids[i]] = __float2bfloat16_rn(own.of(ids[i], z[ids[i]] * inverse) + float(pull));
  }
}

}  // namespace

void taught_gradient(const Stream& stream, const TaughtRows& rows) {
  const auto kernel = rows.teacher ? whole_kernel : rows.rest ? rest_kernel : likeliest_kernel;
  HONE_LAUNCH(kernel, dim3(unsigned(rows.rows)), dim3(kThreads), 0, stream, rows);
}

}  // namespace hone::kernels::cuda
