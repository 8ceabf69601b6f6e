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
  SampleOutputs out;     // tokens and logprobs overwritten for the rows that are truncated
  int rows, tiles, vocabulary;
};

/// Draws among the ids that a row's parameters keep, as described in kernels/lm_head.h; leaves other rows unchanged. No
/// sort: finds the cut by a histogram of one 11-bit digit after another, in counts and in fixed-point mass, so that the
/// order of the additions does not matter.
void truncate_rows(const Stream& stream, const TruncateRows& args);

}  // namespace hone::kernels::cuda
