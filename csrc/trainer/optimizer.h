// Optimizer state and one update of all parameters: AdamW, or Muon for block matrices and AdamW for the rest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/device.h"
#include "core/stream.h"
#include "kernels/optimizer.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/config.h"
#include "trainer/streamed_moments.h"

namespace hone::trainer {

/// Throws kConfig naming the field for a rate outside its range.
void check_optimizer(const OptimizerConfig& config);

/// Bytes of both moments, in the memory chosen by OptimizerConfig::moments_on_host and the backend.
int64_t moment_bytes(const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config);
/// True if moments are in host memory but updated on a device.
bool moments_visit(const Stream& stream, const OptimizerConfig& config);
/// Bytes of an Optimizer in the stream's memory in addition to its moments. threads: size of the stream's pool.
int64_t optimizer_bytes(const Stream& stream, const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config,
                        int threads);

/// A range of parameters that one kernel call updates.
struct ParameterRun {
  int64_t offset = 0, count = 0;
  bool decay = false;
  int64_t muon_rows = 0;  // > 0: a matrix for Muon
};

/// Runs [first, last) of AdamW, which lie side by side: their moments travel together.
struct ParameterWindow {
  size_t first = 0, last = 0;
  int64_t offset = 0, count = 0;  // elements, gaps between runs included
};

/// Moments m and v in the layout of the parameters, f32 or bf16; Muon keeps its momentum buffer in m.
class Optimizer {
 public:
  /// Moments are in the memory of `stream`, or stream through it. Throws the errors of check_optimizer.
  Optimizer(const model::ModelConfig& model, const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config,
            const Stream& stream);
  /// For all parameters of the model.
  Optimizer(const model::ModelConfig& model, const OptimizerConfig& config, const Stream& stream = {})
      : Optimizer(model, model::tensor_specs(model), config, stream) {}

  struct Rates {
    float lr = 0, muon_lr = 0;  // Muon's matrices use muon_lr, the rest lr
    double clip = 0;            // the largest norm of the gradients; 0: any
  };
  struct Applied {
    float scale = 1;                  // the factor that clipped the gradients
    double update_norm = 0, weight_norm = 0;  // |new - old| and |new| over all parameters
  };
  /// Updates parameters and moments by the clipped gradients. `squares` [N] f64, in the stream's memory, add up to the
  /// squared norm of the gradients; on a GPU the norm stays on the device, and the host waits only for the result. If
  /// the norm is not finite, nothing changes, `steps` included, and scale is NaN. `packs`, unless empty, are the packed
  /// copies of these parameters in a snapshot on a GPU: they are overwritten with the new values in the same pass, and
  /// stay as they are where the parameters do. Same bits for any number of threads.
  Applied apply(const Stream& stream, model::TensorBlock& parameters, const model::TensorBlock& grads,
                const TensorView& squares, const Rates& rates,
                const std::vector<model::WeightSnapshot::Part>& packs = {});

  const OptimizerConfig& config() const { return config_; }
  /// Waits for moments that are on their way back from the device.
  model::TensorBlock& m() { return settle(), m_; }
  model::TensorBlock& v() { return settle(), v_; }
  int64_t steps = 0;  // updates applied, for bias correction

 private:
  using Run = ParameterRun;
  struct Update {
    float *param, *grad;
    Rates rates;
    TensorView scale;                           // [1] f32, in the parameters' memory
    std::map<const float*, TensorView> packs;   // by the address of their parameters
  };
  void reserve(const Stream& stream, size_t slots);
  void settle() const { if (streamed_) streamed_->settle(); }
  /// m, v: at the run's first element.
  void adamw(const Stream& stream, const Update& update, const Run& run, std::byte* m, std::byte* v, double* change);
  void adamw_runs(const Stream& stream, const Update& update, double* changes);
  void muon(const Stream& stream, const Update& update, const Run& run, double* change, Arena& scratch);
  void muon_runs(const Stream& stream, const Update& update, double* changes);

  OptimizerConfig config_;
  model::TensorBlock m_, v_;
  std::vector<Run> adamw_, muon_;  // muon_ largest first
  std::vector<Arena> scratch_;     // one per matrix in flight
  int64_t small_matrix_;           // largest number of elements of a matrix that one thread updates alone
  SharedArrays sums_;              // scale, squared weights, squared change of each run
  std::vector<ParameterWindow> windows_;
  std::unique_ptr<StreamedMoments> streamed_;  // null: moments stay where they are updated
};

}  // namespace hone::trainer
