// Optimizer state and one update of all parameters: AdamW, or Muon for block matrices and AdamW for the rest.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/arena.h"
#include "core/device.h"
#include "core/stream.h"
#include "kernels/optimizer.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/trainer.h"

namespace hone::trainer {

struct UpdateNorms {
  double update = 0;  // |new - old| over all parameters
  double weight = 0;  // |new|
};

/// Throws kConfig naming the field for a rate outside its range.
void check_optimizer(const OptimizerConfig& config);

/// Moments m and v in the layout of the parameters; Muon keeps its momentum buffer in m.
class Optimizer {
 public:
  /// Moments lie in the memory of `stream`. Throws what check_optimizer throws.
  Optimizer(const model::ModelConfig& model, const OptimizerConfig& config, const Stream& stream = {});

  /// Gradients are multiplied by grad_scale (the clip factor) first. Muon uses muon_lr, AdamW lr.
  /// The same bits for any number of threads.
  UpdateNorms apply(const Stream& stream, model::Parameters& parameters, const model::Parameters& grads, float lr,
                    float muon_lr, float grad_scale);
  /// On a GPU: gradients are clipped to `clip` by a norm that never leaves the device, so that nothing waits for it;
  /// `totals` [N] f64 are the squares it is the root of. NaN among them leaves everything as it is, `steps` included:
  /// then the scale returned is NaN. Waits once, at the end, for what it returns.
  /// `packs`, unless empty, are a snapshot's parts of these parameters: they are overwritten with the new values as those
  /// are computed, and keep what they have where everything stays.
  struct DeviceUpdate {
    UpdateNorms norms;
    float scale = 1;
  };
  DeviceUpdate apply_clipped(const Stream& stream, model::Parameters& parameters, const model::Parameters& grads,
                             const TensorView& totals, float lr, float muon_lr, double clip,
                             const std::vector<model::WeightSnapshot::Part>& packs = {});

  const OptimizerConfig& config() const { return config_; }
  model::Parameters& m() { return m_; }
  model::Parameters& v() { return v_; }
  int64_t steps = 0;  // updates applied, for bias correction

 private:
  /// A range of parameters that one kernel call may treat alike.
  struct Run {
    int64_t offset = 0, count = 0;
    bool decay = false;
    int64_t muon_rows = 0;  // > 0: a matrix for Muon
    double squared_change = 0;
  };
  struct Update {
    float *param, *grad, lr, muon_lr, factor;
    // On a GPU: a further factor, which stays there, and packed copies by place of their parameters.
    TensorView scale;
    std::map<const float*, TensorView> packs;
    TensorView packed(const Run& run) const;
  };
  void plan(bool joined);
  void reserve(const Stream& stream, size_t slots);
  void adamw(const Stream& stream, const Update& update, const Run& run, double* change);
  void muon(const Stream& stream, const Update& update, const Run& run, double* change, Arena& scratch);
  void muon_runs(const Stream& stream, const Update& update);

  OptimizerConfig config_;
  model::Parameters m_, v_;
  std::vector<Run> adamw_, muon_;  // muon_ largest first
  std::vector<Arena> scratch_;     // one per matrix in flight
  SharedArrays sums_;              // on a GPU: scale, squared change of each run, squared weights
};

}  // namespace hone::trainer
