// The output head in decoding: samples a token per row, in the epilogue of the tiles that pass 1 uses.
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/lm_head.h"
#include "kernels/cuda/lm_head_memory.h"
#include "kernels/cuda/lm_head_pass.cuh"
#include "kernels/cuda/lm_head_row.cuh"
#include "kernels/cuda/lm_head_truncate.h"

namespace hone::kernels::cuda {
namespace {

struct SampleEpilogue {
  const SamplingParams* params;
  const SampleKey* keys;
  TileSums* sums;          // [rows, tiles]
  Candidate* candidates;   // [rows, tiles]
  float* logits;           // [rows, pitch], written only for rows that are truncated
  int64_t pitch;
  int vocabulary, tiles;

  __device__ __forceinline__ void row(int row, int first, const float4& z) const {
    const RowRule rule = rule_of(params[row], vocabulary);
    const int count = vocabulary - first;
    float y[4];
    temper(z, rule.inverse_temperature, y);
    const TileSums s = tile_sums(y, count);
    if (rule.truncates && first < pitch) *reinterpret_cast<float4*>(logits + row * pitch + first) = z;
    Candidate best = no_candidate();
    if (!rule.truncates) best = warp_best(best_of_four(z, y, first, rule.drawn - first, keys[row], rule.greedy));
    if (threadIdx.x % 32 != 0) return;
    const int64_t at = int64_t(row) * tiles + first / kHeadOutputs;
    sums[at] = s;
    candidates[at] = best;
  }
};

/// Merges tiles into a row's results, one warp per row. Tokens of truncated rows are sampled by
/// truncate_rows.
__global__ void __launch_bounds__(kHeadThreads)
merge_samples_kernel(const TileSums* sums, const Candidate* candidates, const SamplingParams* params, SampleOutputs out,
                     int rows, int tiles, int vocabulary) {
  await_predecessor();
  const int row = blockIdx.x * (kHeadThreads / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  const RowSums s = merge_tiles(sums + int64_t(row) * tiles, tiles);
  Candidate best = no_candidate();
  for (int j = lane; j < tiles; j += 32) best = better(best, candidates[int64_t(row) * tiles + j]);
  best = warp_best(best);
  if (lane != 0) return;
  out.tokens[row] = best.token == Candidate::kNone ? 0 : best.token;
  out.logprobs[row] = logprob_of(s.maximum, s.total, best.z, rule_of(params[row], vocabulary).inverse_temperature);
  out.entropies[row] = entropy_of(s);
}

template <class Weight>
void sample(const Stream& stream, const LmHeadSampleArgs& a, const HeadWeight& w) {
  const int64_t rows = a.h.dim(0), chunk = std::min(rows, kSampleChunk), pitch = logit_pitch(w.outputs);
  const int tiles = head_tiles(w.outputs);
  const HeadScratch scratch(a.scratch);
  TileSums* const sums = scratch.arena.take_array<TileSums>(chunk * tiles);
  Candidate* const candidates = scratch.arena.take_array<Candidate>(chunk * tiles);
  float* const logits = scratch.arena.take_array<float>(chunk * pitch);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int count = int(std::min(chunk, rows - first));
    const HeadRows h{a.h.row<const __nv_bfloat16>(first), a.h.row_stride, count};
    const SamplingParams* const params = a.params + first;
    const SampleKey* const keys = a.keys + first;
    const SampleEpilogue epilogue{params, keys, sums, candidates, logits, pitch, w.outputs, tiles};
    const auto pass = count <= 16   ? head_pass<Weight, 16, Weight::kParts, SampleEpilogue>
                      : count <= 64 ? head_pass<Weight, 64, Weight::kParts, SampleEpilogue>
                                    : head_pass<Weight, 128, Weight::kParts, SampleEpilogue>;
    pass(stream, w, h, epilogue);
    const SampleOutputs out{a.tokens.as<int32_t>() + first, a.logprobs.as<float>() + first,
                            a.entropies.as<float>() + first};
    HONE_LAUNCH_EARLY(merge_samples_kernel, dim3(unsigned(count + 7) / 8), dim3(kHeadThreads), 0, stream, sums, candidates,
                params, out, count, tiles, w.outputs);
    truncate_rows(stream, {logits, pitch, sums, params, keys, out, count, tiles, w.outputs});
  }
}

}  // namespace

void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& args) {
  const HeadWeight w = head_weight(args.w);
  if (args.w.storage == DType::kBF16) sample<WeightBf16>(stream, args, w);
  else sample<WeightF32>(stream, args, w);
}

}  // namespace hone::kernels::cuda
