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
  const uint8_t* routes = nullptr;  // of the row it is drawn from, until the next step; null where none are recorded
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

  int64_t route_bytes = 0;      // of model/routes.h; 0: routes are not recorded
  std::vector<uint8_t> routes;  // [R, route_bytes]
  /// Where those of a row and the ones after it go; null if they are not recorded.
  uint8_t* routes_from(int32_t row) { return route_bytes > 0 ? routes.data() + row * route_bytes : nullptr; }
  /// Call when they are there: points samples to their rows', and keeps those of prompts in their groups.
  void hand_out_routes(const std::vector<Piece>& pieces);

 private:
  void add_sample(Sequence& sequence, uint64_t run_seed);
};

}  // namespace hone::engine
