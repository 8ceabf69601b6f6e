// A step's work as arrays, with one entry per row of the network or per sampled token.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/piece.h"
#include "engine/sequence.h"
#include "kernels/lm_head.h"

namespace hone::engine {

/// One token sampled in a step.
struct Sample {
  Sequence* sequence = nullptr;
  int32_t token = -1;
  float logprob = 0, entropy = 0;
  // routes of the row that gave the token's logits, valid until the next step; null if not recorded
  const uint8_t* routes = nullptr;
};

/// A step's rows and samples, in the order of the pieces; at the end of a prompt by attempt.
struct StepRows {
  /// Fills the arrays for a step; memory is reused from step to step.
  void lay_out(const std::vector<Piece>& pieces, uint64_t run_seed);
  void reserve(int64_t rows, int64_t samples);

  std::vector<int32_t> ids, positions, table_rows;  // [R]
  // [pieces + 1] first row of each piece, and the number of rows
  std::vector<int32_t> piece_rows;
  std::vector<float*> states;                       // [pieces] recurrent states that each piece continues
  std::vector<int32_t> sample_rows;                 // [N] the row that each token is sampled from
  std::vector<kernels::SamplingParams> params;      // [N]
  std::vector<SampleKey> keys;                      // [N]
  // [N] lay_out sets `sequence`; the runner fills in the results
  std::vector<Sample> samples;

  int64_t route_bytes = 0;      // bytes per row (model/routes.h); 0: routes are not recorded
  std::vector<uint8_t> routes;  // [R, route_bytes]
  /// Where to write the routes of `row` and later rows; null if routes are not recorded.
  uint8_t* routes_from(int32_t row) { return route_bytes > 0 ? routes.data() + row * route_bytes : nullptr; }
  /// Must be called after the routes were written: points each sample to its row's routes, and copies those
  /// of prompt rows to their groups.
  void hand_out_routes(const std::vector<Piece>& pieces);

 private:
  void add_sample(Sequence& sequence, uint64_t run_seed);
};

}  // namespace hone::engine
