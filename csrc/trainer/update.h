// Applies a step's gradients to the weights: gradient norms, clipping, the optimizer's update.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/device.h"
#include "model/parameters.h"
#include "trainer/optimizer.h"
#include "trainer/packed_weights.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Bytes of an Update in the stream's memory, its optimizer excluded. trained: number of trained elements.
int64_t update_bytes(const Stream& stream, const model::ModelConfig& model, int64_t trained);

/// Owns the optimizer, which is created by the first update, since a trainer that only scores or publishes
/// needs no moments.
class Update {
 public:
  /// Throws kConfig naming an invalid field of the optimizer's config. `parameters` must outlive this object.
  Update(const Stream& stream, model::TensorBlock& parameters, const OptimizerConfig& config);

  const OptimizerConfig& config() const { return config_; }
  Optimizer& optimizer();
  /// Drops moments and step counter.
  void reset(const OptimizerConfig& config);

  /// Updates parameters, moments and packed weights. Nothing changes if report.skipped is set, or if the norm
  /// of the gradients is not finite, which sets it. Writes scale and norms to `report`, and waits for them.
  void apply(const model::TensorBlock& grads, const StepOptions& options, PackedWeights& weights, StepReport& report);
  /// Sum of squares of x [n] in the stream's memory; waits for it.
  double sum_of_squares(const TensorView& x);

 private:
  SharedArrays::Array<double> layer_squares(const model::TensorBlock& grads);
  static void report_norms(const SharedArrays::Array<double>& squares, StepReport& report);

  Stream stream_;
  model::TensorBlock& parameters_;
  OptimizerConfig config_;
  std::optional<Optimizer> optimizer_;
  std::vector<int64_t> layer_of_;  // [tensors] layer of each tensor; L for tensors outside of layers
  SharedArrays sums_;
  Arena scratch_;
};

}  // namespace hone::trainer
