// Top-k, top-p and min-p sampling of rows whose logits are in memory.
#pragma once

#include "kernels/lm_head.h"

namespace hone::kernels::cuda {

struct TileSums;

struct SampleOutputs {
  int32_t* tokens;
  float *logprobs, *entropies;
};

struct TruncateRows {
  const float* logits;   // [rows, pitch]
  int64_t pitch;         // a multiple of 4
  const TileSums* sums;  // [rows, tiles]
  const SamplingParams* params;
  const SampleKey* keys;
  SampleOutputs out;     // tokens and logprobs are overwritten for truncated rows only
  int rows, tiles, vocabulary;
};

/// Samples among the ids that a row's parameters keep, as kernels/lm_head.h describes; does nothing for rows
/// without truncation. Finds the cut without sorting, by histograms of one 11-bit digit after another;
/// probability mass is fixed-point, so that the order of additions does not matter.
void truncate_rows(const Stream& stream, const TruncateRows& args);

}  // namespace hone::kernels::cuda
