// Table of cosines and sines of the rotary angles of every position, computed once in f64.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "model/config.h"

namespace hone::model {

/// rotary_dim/2 angular frequencies in radians per position, after scaling (linear, llama3, yarn, longrope).
/// Source: Su et al. 2021; Llama 3 frequency smoothing; Peng et al. 2023 (YaRN), ramp as in transformers;
/// Ding et al. 2024 (LongRoPE).
std::vector<double> rope_frequencies(const RopeConfig& rope, int64_t rotary_dim);
/// Factor of all cosines and sines: 1; YaRN: 0.1 ln(factor) + 1; longrope: sqrt(1 + ln(factor) /
/// ln(original)).
double rope_attention_factor(const RopeConfig& rope);

/// Bytes of a RopeTable with `positions` rows.
int64_t rope_table_bytes(int64_t rotary_dim, int64_t positions);

/// P rows (positions) of N = rotary_dim values: the cosines of N/2 angles, then their sines. Angles are
/// products in f64 (the f32 angles of transformers are off by 1e-3 at position 10^4); cosines and sines are
/// rounded once to f32.
class RopeTable {
 public:
  /// Computes a table of `positions` rows. Throws kOutOfMemory.
  static std::shared_ptr<const RopeTable> make(const Stream& stream, const RopeConfig& rope, int64_t rotary_dim,
                                               int64_t positions);
  /// A table for layers without rotary embedding: it rotates one pair of dimensions by 0, so that these
  /// layers use the same op.
  static std::shared_ptr<const RopeTable> still(const Stream& stream, int64_t positions);
  const TensorView& view() const { return view_; }  // [P, N] f32

 private:
  RopeTable() = default;
  static std::shared_ptr<const RopeTable> fill(const Stream& stream, const std::vector<double>& frequencies, double factor,
                                               int64_t positions);
  Arena arena_;
  TensorView view_;
};

}  // namespace hone::model
