// Routing of rows to experts on a GPU, its gradient, and the routers' auxiliary losses. A warp computes a row;
// lane l has experts l, l + 32, ... Nothing depends on other rows, and all sums have a fixed order.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/experts.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/swiglu.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;
// Keeps the sum of weights above 0 even if every sigmoid is 0, as on the CPU.
constexpr float kLeastSum = 1e-20f;

struct Routes {
  float* scores;            // [R, E]
  const float* correction;  // [E] or null
  int32_t* experts;         // [R, k]
  float* weights;           // [R, k]
  int64_t rows;
  int count, k;
  Routing how;
};

/// A candidate of a choice; index -1: none.
struct Best {
  float value;
  int index;

  /// True if the other one is to be chosen: it has the higher value, or, where neither has, the lower index.
  __device__ __forceinline__ bool loses_to(const Best& other) const {
    if (other.index < 0) return false;
    if (index < 0 || other.value > value) return true;
    return !(value > other.value) && other.index < index;
  }
};

/// The index that wins over all lanes; every lane gets the same one.
__device__ __forceinline__ int winner(Best mine) {
#pragma unroll
  for (int stride = 16; stride > 0; stride /= 2) {
    const Best other{__shfl_xor_sync(kFullWarp, mine.value, stride), __shfl_xor_sync(kFullWarp, mine.index, stride)};
    if (mine.loses_to(other)) mine = other;
  }
  return __shfl_sync(kFullWarp, mine.index, 0);  // with NaN lanes may differ
}

/// Replaces a row's logits by scores.
__device__ __forceinline__ void score_row(float* row, int count, bool sigmoidal) {
  const int lane = int(threadIdx.x) % 32;
  if (sigmoidal) {
    for (int e = lane; e < count; e += 32) row[e] = sigmoid(row[e]);
    return;
  }
  float most = -INFINITY, sum = 0.0f;
  for (int e = lane; e < count; e += 32) most = fmaxf(most, row[e]);
  most = warp_max(most);
  for (int e = lane; e < count; e += 32) sum += row[e] = expf(row[e] - most);
  sum = warp_sum(sum);
  for (int e = lane; e < count; e += 32) row[e] /= sum;
}

/// Chooses the experts of one row. `scores` must be visible to all lanes.
struct Choice {
  const Routes& a;
  const float* scores;
  unsigned open;        // bit g: experts of group g can be chosen
  unsigned taken = 0;   // bit i: expert 32 i + lane is chosen

  __device__ Choice(const Routes& args, const float* row) : a(args), scores(row), open(choose_groups()) {}

  __device__ __forceinline__ float value(int e) const { return scores[e] + (a.correction ? a.correction[e] : 0.0f); }

  /// The sum of the two highest values of a group.
  __device__ __forceinline__ float group_value(int group) const {
    const int size = a.count / int(a.how.groups);
    float first = -INFINITY, second = -INFINITY;
    for (int e = group * size; e < (group + 1) * size; ++e) {
      const float v = value(e);
      if (v > first) second = first, first = v;
      else if (v > second) second = v;
    }
    return first + second;
  }

  __device__ __forceinline__ unsigned choose_groups() const {
    if (a.how.chosen_groups == a.how.groups) return ~0u;
    const int lane = int(threadIdx.x) % 32;
    Best mine{0.0f, -1};
    if (lane < a.how.groups) mine = {group_value(lane), lane};
    unsigned chosen = 0;
    for (int j = 0; j < a.how.chosen_groups; ++j) {
      const int best = winner(mine);
      chosen |= 1u << best;
      if (lane == best) mine.index = -1;
    }
    return chosen;
  }

  __device__ __forceinline__ bool is_open(int e) const {
    return open == ~0u || (open >> (e / (a.count / int(a.how.groups))) & 1u) != 0;
  }

  __device__ __forceinline__ void choose() {
    const int lane = int(threadIdx.x) % 32;
    for (int j = 0; j < a.k; ++j) {
      Best mine{0.0f, -1};
      for (int e = lane; e < a.count; e += 32) {
        if ((taken >> (e / 32) & 1u) != 0 || !is_open(e)) continue;
        const Best next{value(e), e};
        if (mine.loses_to(next)) mine = next;
      }
      const int best = winner(mine);
      if (best % 32 == lane) taken |= 1u << (best / 32);
    }
  }

  /// Lists the chosen experts in ascending order.
  __device__ __forceinline__ void list(int32_t* to) const {
    const int lane = int(threadIdx.x) % 32;
    int before = 0;
    for (int i = 0; 32 * i < a.count; ++i) {
      const bool mine = (taken >> i & 1u) != 0;
      const unsigned all = __ballot_sync(kFullWarp, mine);
      if (mine) to[before + __popc(all & ((1u << lane) - 1u))] = 32 * i + lane;
      before += __popc(all);
    }
  }
};

__device__ __forceinline__ float sum_of(const float* scores, const int32_t* experts, int k) {
  float sum = 0.0f;
  for (int j = 0; j < k; ++j) sum += scores[experts[j]];
  return sum + kLeastSum;
}

__global__ void __launch_bounds__(kThreads) route_kernel(Routes a) {
  const int lane = int(threadIdx.x) % 32;
  const int64_t r = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (r >= a.rows) return;
  float* const scores = a.scores + r * a.count;
  int32_t* const experts = a.experts + r * a.k;
  score_row(scores, a.count, a.how.sigmoid);
  __syncwarp();
  Choice choice(a, scores);
  choice.choose();
  choice.list(experts);
  __syncwarp();
  const float sum = a.how.normalized ? sum_of(scores, experts, a.k) : 1.0f;
  for (int j = lane; j < a.k; j += 32) a.weights[r * a.k + j] = scores[experts[j]] / sum * a.how.scaling;
}

struct RouteSlopes {
  const float* scores;     // [R, E]
  const int32_t* experts;  // [R, k]
  const float* dweights;   // [R, k]
  float* dlogits;          // [R, E], may be scores
  int64_t rows;
  int count, k;
  Routing how;
};

/// The gradient of a row's chosen scores is (dweight - mean) factor; every lane has all of these numbers.
struct ScoreSlopes {
  float mean = 0.0f, factor;
  float expected = 0.0f;  // mean of the gradient under the softmax

  __device__ ScoreSlopes(const RouteSlopes& a, const float* scores, const int32_t* experts, const float* dweights)
      : factor(a.how.scaling) {
    if (a.how.normalized) {
      const float sum = sum_of(scores, experts, a.k);
      for (int j = 0; j < a.k; ++j) mean += dweights[j] * (scores[experts[j]] / sum);
      factor /= sum;
    }
    for (int j = 0; j < a.k; ++j) expected += of(dweights[j]) * scores[experts[j]];
  }
  __device__ __forceinline__ float of(float dweight) const { return (dweight - mean) * factor; }
};

__global__ void __launch_bounds__(kThreads) route_grad_kernel(RouteSlopes a) {
  const int64_t r = int64_t(blockIdx.x) * kWarps + threadIdx.x / 32;
  if (r >= a.rows) return;
  const float *const scores = a.scores + r * a.count, *const dweights = a.dweights + r * a.k;
  const int32_t* const experts = a.experts + r * a.k;
  const ScoreSlopes slopes(a, scores, experts, dweights);
  __syncwarp();  // all lanes have read the chosen scores, whose memory dlogits may be
  for (int e = int(threadIdx.x) % 32; e < a.count; e += 32) {
    float d = 0.0f;
    for (int j = 0; j < a.k; ++j) {
      if (experts[j] == e) d = slopes.of(dweights[j]);
    }
    const float s = scores[e];
    a.dlogits[r * a.count + e] = a.how.sigmoid ? d * s * (1.0f - s) : s * (d - slopes.expected);
  }
}

constexpr int kLossThreads = 1024;

struct RouterLoss {
  const float* logits;     // [R, E]
  const int32_t* experts;  // [R, k]
  const int32_t* starts;   // [S + 1]
  float* dlogits;          // [R, E]
  int count, k;
  float balance, z;        // coefficients
  bool sigmoid;
  double* losses;          // [S]
};

/// What a row's terms need of its logits: the maximum, ln sum exp, and the sum of the unnormalized
/// probabilities. Every lane has the same numbers.
struct RowTerms {
  const RouterLoss& a;
  const float* logits;
  float most = -INFINITY, lse, sum = 0.0f;

  __device__ RowTerms(const RouterLoss& args, const float* row) : a(args), logits(row) {
    const int lane = int(threadIdx.x) % 32;
    float exponentials = 0.0f;
    for (int e = lane; e < a.count; e += 32) most = fmaxf(most, logits[e]);
    most = warp_max(most);
    for (int e = lane; e < a.count; e += 32) exponentials += expf(logits[e] - most);
    exponentials = warp_sum(exponentials);
    lse = most + logf(exponentials);
    for (int e = lane; e < a.count; e += 32) sum += raw(e);
    sum = warp_sum(sum);
  }
  __device__ __forceinline__ float raw(int e) const { return a.sigmoid ? cuda::sigmoid(logits[e]) : expf(logits[e] - most); }
  __device__ __forceinline__ float probability(int e) const { return raw(e) / sum; }
  /// The probability's derivative by its own logit, before that of the sum, divided by the probability.
  __device__ __forceinline__ float own(int e) const { return a.sigmoid ? cuda::sigmoid(-logits[e]) : 1.0f; }
};

/// Adds a row's gradient to dlogits and returns its loss. counts: the number of rows of each expert; each: the factor of such a
/// number in the balance loss.
__device__ __forceinline__ float add_row_loss(const RouterLoss& a, int64_t r, const int* counts, float each, float z) {
  const int lane = int(threadIdx.x) % 32;
  const RowTerms row(a, a.logits + r * a.count);
  float balance = 0.0f;
  for (int e = lane; e < a.count; e += 32) balance += each * float(counts[e]) * row.probability(e);
  balance = warp_sum(balance);
  for (int e = lane; e < a.count; e += 32) {
    float d = row.probability(e) * row.own(e) * (each * float(counts[e]) - balance);
    if (z != 0.0f) d += 2.0f * z * row.lse * expf(row.logits[e] - row.lse);
    a.dlogits[r * a.count + e] += d;
  }
  return balance + (z != 0.0f ? z * row.lse * row.lse : 0.0f);
}

/// A block computes a sequence. It reads the logits three times, from the caches but for the first.
__global__ void __launch_bounds__(kLossThreads) router_loss_kernel(RouterLoss a) {
  HONE_DYNAMIC_SHARED(int, counts);
  __shared__ double scratch[32];
  const int64_t first = a.starts[blockIdx.x], last = a.starts[blockIdx.x + 1];
  if (first == last) return;
  for (int e = int(threadIdx.x); e < a.count; e += kLossThreads) counts[e] = 0;
  __syncthreads();
  for (int64_t p = first * a.k + threadIdx.x; p < last * a.k; p += kLossThreads) atomicAdd(&counts[a.experts[p]], 1);
  __syncthreads();
  const float rows = float(last - first), each = a.balance * float(a.count) / (rows * rows), z = a.z / rows;
  double loss = 0.0;  // equal in all lanes of a warp
  for (int64_t r = first + threadIdx.x / 32; r < last; r += kLossThreads / 32) loss += double(add_row_loss(a, r, counts, each, z));
  loss = block_sum(threadIdx.x % 32 == 0 ? loss : 0.0, scratch);
  if (threadIdx.x == 0) a.losses[blockIdx.x] += loss;
}

}  // namespace

void route(const Stream& stream, const RouteArgs& args) {
  const int64_t R = args.scores.dim(0);
  const Routes a{args.scores.as<float>(), args.correction.empty() ? nullptr : args.correction.as<const float>(), args.experts.as<int32_t>(),
                 args.weights.as<float>(), R, int(args.scores.dim(1)), int(args.experts.dim(1)), args.how};
  HONE_LAUNCH(route_kernel, blocks_for(R, kWarps), kThreads, 0, stream, a);
}

void route_grad(const Stream& stream, const RouteGradArgs& args) {
  const int64_t R = args.scores.dim(0);
  const RouteSlopes a{args.scores.as<const float>(), args.experts.as<const int32_t>(), args.dweights.as<const float>(),
                      args.dlogits.as<float>(), R, int(args.scores.dim(1)), int(args.experts.dim(1)), args.how};
  HONE_LAUNCH(route_grad_kernel, blocks_for(R, kWarps), kThreads, 0, stream, a);
}

void router_loss(const Stream& stream, const RouterLossArgs& args) {
  const int64_t E = args.logits.dim(1), S = args.starts.dim(0) - 1;
  const RouterLoss a{args.logits.as<const float>(), args.experts.as<const int32_t>(), args.starts.as<const int32_t>(), args.dlogits.as<float>(),
                     int(E), int(args.experts.dim(1)), float(args.balance_coef), float(args.z_coef), args.sigmoid, args.losses};
  HONE_LAUNCH(router_loss_kernel, unsigned(S), kLossThreads, int(E * int64_t(sizeof(int))), stream, a);
}

}  // namespace hone::kernels::cuda
