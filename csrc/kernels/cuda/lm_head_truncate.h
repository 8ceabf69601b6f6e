// Top-k, top-p and min-p of rows whose logits are at hand.
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

/// Draws from what a row's parameters keep, as kernels/lm_head.h says; other rows are left as they are. No sort: the
/// place of the cut is found by a histogram of one 11-bit digit after another, in counts and in mass of fixed point,
/// so that the order of the additions does not matter.
void truncate_rows(const Stream& stream, const TruncateRows& args);

}  // namespace hone::kernels::cuda
