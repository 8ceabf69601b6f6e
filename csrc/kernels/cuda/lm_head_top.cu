// The k likeliest tokens of rows: computes the logits of a chunk of rows with the tiles of pass 1, then one
// block per row selects tokens.
#include <algorithm>

#include "kernels/cuda/lm_head.h"
#include "kernels/cuda/lm_head_memory.h"
#include "kernels/cuda/lm_head_pass.cuh"
#include "kernels/cuda/lm_head_row.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct TopEpilogue {
  TileSums* sums;  // [rows, tiles]
  float* logits;   // [rows, pitch]
  int64_t pitch;
  float inverse_temperature;
  int vocabulary, tiles;

  __device__ __forceinline__ void row(int row, int first, const float4& z) const {
    float y[4];
    temper(z, inverse_temperature, y);
    const TileSums s = tile_sums(y, vocabulary - first);
    if (first < pitch) *reinterpret_cast<float4*>(logits + row * pitch + first) = z;
    if (threadIdx.x % 32 == 0) sums[int64_t(row) * tiles + first / kHeadOutputs] = s;
  }
};

/// A sort key: larger for a larger logit and, if logits are equal (-0 and 0 are), for the lower id; unique
/// per id, and never 0.
__device__ __forceinline__ unsigned long long place_of(float z, int id) {
  const uint32_t bits = __float_as_uint(z + 0.0f);
  const uint32_t sortable = bits ^ (bits >> 31 ? 0xffffffffu : 0x80000000u);
  return static_cast<unsigned long long>(sortable) << 32 | (0xffffffffu - uint32_t(id));
}
__device__ __forceinline__ int id_of(unsigned long long place) { return int(0xffffffffu - uint32_t(place)); }

/// The largest key below `limit` among this thread's ids; 0 if there is none.
__device__ __forceinline__ unsigned long long next_of(const float* z, int n, unsigned long long limit) {
  unsigned long long best = 0;
  for (int v = threadIdx.x; v < n; v += kThreads) {
    const unsigned long long place = place_of(z[v], v);
    if (place < limit && place > best) best = place;
  }
  return best;
}

/// Maximum over the block; every thread gets it.
__device__ __forceinline__ unsigned long long block_best(unsigned long long value, unsigned long long* scratch) {
  const int lane = threadIdx.x % 32;
#pragma unroll
  for (int stride = 16; stride > 0; stride /= 2) value = max(value, __shfl_xor_sync(kFullWarp, value, stride));
  if (lane == 0) scratch[threadIdx.x / 32] = value;
  __syncthreads();
  for (int w = 0; w < kThreads / 32; ++w) value = max(value, scratch[w]);
  __syncthreads();
  return value;
}

struct TopRows {
  const float* logits;  // [rows, pitch]
  const TileSums* sums;
  int64_t pitch;
  float inverse_temperature;
  int vocabulary, tiles, k;
  int32_t* ids;     // [rows, k] out
  float* logprobs;  // [rows, k] out
};

/// Selects the k likeliest tokens; one block per row. Each thread holds its best remaining id; only the
/// thread whose id was selected searches again.
__global__ void __launch_bounds__(kThreads) top_kernel(TopRows a) {
  __shared__ unsigned long long scratch[kThreads / 32];
  const int row = blockIdx.x;
  const float* const z = a.logits + row * a.pitch;
  const RowSums s = merge_tiles(a.sums + int64_t(row) * a.tiles, a.tiles);
  unsigned long long own = next_of(z, a.vocabulary, ~0ull);
  for (int i = 0; i < a.k; ++i) {
    const unsigned long long best = block_best(own, scratch);
    if (own != best) continue;
    const int id = id_of(best);
    a.ids[int64_t(row) * a.k + i] = id;
    a.logprobs[int64_t(row) * a.k + i] = logprob_of(s.maximum, s.total, z[id], a.inverse_temperature);
    own = next_of(z, a.vocabulary, best);
  }
}

template <class Weight>
void top(const Stream& stream, const LmHeadTopArgs& a, const HeadWeight& w) {
  const int64_t rows = a.h.dim(0), k = a.ids.dim(1), chunk = std::min(rows, kSampleChunk), pitch = logit_pitch(w.outputs);
  const int tiles = head_tiles(w.outputs);
  const float inverse = 1.0f / a.temperature;
  const HeadScratch scratch(a.scratch);
  TileSums* const sums = scratch.arena.take_array<TileSums>(chunk * tiles);
  float* const logits = scratch.arena.take_array<float>(chunk * pitch);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int count = int(std::min(chunk, rows - first));
    const HeadRows h{a.h.row<const __nv_bfloat16>(first), a.h.row_stride, count};
    head_pass<Weight, 128, Weight::kParts>(stream, w, h, TopEpilogue{sums, logits, pitch, inverse, w.outputs, tiles});
    const TopRows found{logits, sums, pitch, inverse, w.outputs, tiles, int(k), a.ids.row<int32_t>(first), a.logprobs.row<float>(first)};
    HONE_LAUNCH(top_kernel, dim3(unsigned(count)), dim3(kThreads), 0, stream, found);
  }
}

}  // namespace

void lm_head_top(const Stream& stream, const LmHeadTopArgs& args) {
  const HeadWeight w = head_weight(args.w);
  if (args.w.storage == DType::kBF16) top<WeightBf16>(stream, args, w);
  else top<WeightF32>(stream, args, w);
}

}  // namespace hone::kernels::cuda
