// A step's work as arrays: one entry per row of the network and per token drawn.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/piece.h"
#include "engine/sequence.h"
#include "kernels/lm_head.h"

namespace hone::engine {

/// One token drawn in a step.
struct Sample {
  Sequence* sequence = nullptr;
  int32_t token = -1;
  float logprob = 0, entropy = 0;
};

/// Rows, and samples, in the order of the pieces; members of a prompt by attempt.
struct StepRows {
  /// Keeps memory from step to step.
  void lay_out(const std::vector<Piece>& pieces, uint64_t run_seed);
  void reserve(int64_t rows, int64_t samples);

  std::vector<int32_t> ids, positions, table_rows;  // [R]
  std::vector<int32_t> piece_rows;                  // [pieces + 1] the first row of each
  std::vector<float*> states;                       // [pieces] recurrent states
  std::vector<int32_t> sample_rows;                 // [N] the row a token is drawn from
  std::vector<kernels::SamplingParams> params;      // [N]
  std::vector<SampleKey> keys;                      // [N]
  std::vector<Sample> samples;                      // [N] sequences; the rest is for the runner to fill in

 private:
  void add_sample(Sequence& sequence, uint64_t run_seed);
};

}  // namespace hone::engine
