// Pass 1 of the output head: sums per tile, merged into log-prob, entropy and log-sum-exp. No logits are
// stored in memory.
#include <algorithm>

#include "kernels/cuda/lm_head.h"
#include "kernels/cuda/lm_head_memory.h"
#include "kernels/cuda/lm_head_pass.cuh"
#include "kernels/cuda/lm_head_row.cuh"

namespace hone::kernels::cuda {
namespace {

struct StatisticsEpilogue {
  const int32_t* targets;
  TileSums* sums;  // [rows, tiles]
  float inverse_temperature;
  int vocabulary, tiles;

  __device__ __forceinline__ void row(int row, int first, const float4& z) const {
    float y[4];
    temper(z, inverse_temperature, y);
    TileSums s = tile_sums(y, vocabulary - first);
    const int tile = first / kHeadOutputs, offset = targets[row] - tile * kHeadOutputs;
    if (offset >= 0 && offset < kHeadOutputs) {
      s.extra = __shfl_sync(kFullWarp, component(z, offset % 4), offset / 4);
    }
    if (threadIdx.x % 32 == 0) sums[int64_t(row) * tiles + tile] = s;
  }
};

struct Outputs {
  float *logprobs, *entropies, *lse;
};

/// Merges the tiles' sums into a row's results; one warp per row.
__global__ void __launch_bounds__(kHeadThreads)
merge_statistics_kernel(const TileSums* sums, const int32_t* targets, Outputs out, float inverse_temperature, int rows,
                        int tiles) {
  const int row = blockIdx.x * (kHeadThreads / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const TileSums* const mine = sums + int64_t(row) * tiles;
  const RowSums s = merge_tiles(mine, tiles);
  if (threadIdx.x % 32 != 0) return;
  const float z = mine[targets[row] / kHeadOutputs].extra;
  out.logprobs[row] = logprob_of(s.maximum, s.total, z, inverse_temperature);
  out.entropies[row] = entropy_of(s);
  out.lse[row] = lse_of(s);
}

template <class Weight>
void statistics(const Stream& stream, const LmHeadArgs& a, const HeadWeight& w) {
  const int64_t rows = a.h.dim(0), chunk = std::min(rows, kHeadChunk);
  const int tiles = head_tiles(w.outputs);
  const float inverse = 1.0f / a.temperature;
  const HeadScratch scratch(a.scratch);
  TileSums* const sums = scratch.arena.take_array<TileSums>(chunk * tiles);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int count = int(std::min(chunk, rows - first));
    const int32_t* const targets = a.targets.as<int32_t>() + first;
    const HeadRows h{a.h.row<const __nv_bfloat16>(first), a.h.row_stride, count};
    const StatisticsEpilogue epilogue{targets, sums, inverse, w.outputs, tiles};
    head_pass<Weight, 128, Weight::kParts>(stream, w, h, epilogue);
    const Outputs out{a.logprobs.as<float>() + first, a.entropies.as<float>() + first, a.lse.as<float>() + first};
    HONE_LAUNCH(merge_statistics_kernel, dim3(unsigned(count + 7) / 8), dim3(kHeadThreads), 0, stream, sums, targets,
                out, inverse, count, tiles);
  }
}

}  // namespace

void lm_head(const Stream& stream, const LmHeadArgs& args) {
  const HeadWeight w = head_weight(args.w);
  if (args.w.storage == DType::kBF16) statistics<WeightBf16>(stream, args, w);
  else statistics<WeightF32>(stream, args, w);
}

}  // namespace hone::kernels::cuda
