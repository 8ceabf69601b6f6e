// The optimizer's state and its update of all parameters: AdamW, or Muon for the layers' matrices and AdamW
// for the rest.
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

/// Throws kConfig naming a field whose value is outside its range.
void check_optimizer(const OptimizerConfig& config);

/// Bytes of both moments, which OptimizerConfig::moments_on_host and the backend place in host or device
/// memory.
int64_t moment_bytes(const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config);
/// True if moments are in host memory and an update streams them through a device.
bool moments_visit(const Stream& stream, const OptimizerConfig& config);
/// Bytes of an Optimizer in the stream's memory, moments excluded. threads: size of the stream's pool.
int64_t optimizer_bytes(const Stream& stream, const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config,
                        int threads);

/// A range of parameters that one kernel call updates.
struct ParameterRun {
  int64_t offset = 0, count = 0;
  bool decay = false;
  int64_t muon_rows = 0;  // > 0: a matrix that Muon updates, with this many rows
};

/// AdamW's runs [first, last), contiguous in memory: their moments are copied to the device together.
struct ParameterWindow {
  size_t first = 0, last = 0;
  int64_t offset = 0, count = 0;  // elements, including gaps between runs
};

/// Owns moments m and v in the layout of the parameters, f32 or bf16. For Muon's matrices m is the momentum
/// buffer.
class Optimizer {
 public:
  /// Moments lie in the memory of `stream`, or of the host if moments_visit(). Throws as check_optimizer.
  Optimizer(const model::ModelConfig& model, const std::vector<model::TensorSpec>& specs, const OptimizerConfig& config,
            const Stream& stream);
  /// An optimizer for all parameters of the model.
  Optimizer(const model::ModelConfig& model, const OptimizerConfig& config, const Stream& stream = {})
      : Optimizer(model, model::tensor_specs(model), config, stream) {}

  struct Rates {
    float lr = 0, muon_lr = 0;  // Muon's matrices use muon_lr, all other tensors lr
    double clip = 0;            // limit of the gradients' norm; 0: no limit
  };
  struct Applied {
    float scale = 1;                  // factor that clipping applied to the gradients
    double update_norm = 0, weight_norm = 0;  // |new - old| and |new| over all parameters
  };
  /// Updates parameters and moments with the clipped gradients. `squares` [N] f64, in the stream's memory,
  /// must sum to the squared norm of the gradients; on a GPU the norm stays on the device, and the host waits
  /// only for the result. If the norm is not finite, nothing changes, not even `steps`, and scale is NaN.
  /// `packs`, unless empty, are packed copies of the parameters in a snapshot on a GPU; the update also
  /// writes the new values to them. Same bits for any number of threads.
  Applied apply(const Stream& stream, model::TensorBlock& parameters, const model::TensorBlock& grads,
                const TensorView& squares, const Rates& rates,
                const std::vector<model::WeightSnapshot::Part>& packs = {});

  const OptimizerConfig& config() const { return config_; }
  /// m() and v() first wait for moments that are being copied back from the device.
  model::TensorBlock& m() { return settle(), m_; }
  model::TensorBlock& v() { return settle(), v_; }
  int64_t steps = 0;  // updates applied, for bias correction

 private:
  using Run = ParameterRun;
  struct Update {
    float *param, *grad;
    Rates rates;
    TensorView scale;                           // [1] f32, in the parameters' memory
    std::map<const float*, TensorView> packs;   // by the address of the parameters
  };
  void reserve(const Stream& stream, size_t slots);
  void settle() const { if (streamed_) streamed_->settle(); }
  /// Updates one run; m and v point to the moments of its first element.
  void adamw(const Stream& stream, const Update& update, const Run& run, std::byte* m, std::byte* v, double* change);
  void adamw_runs(const Stream& stream, const Update& update, double* changes);
  void muon(const Stream& stream, const Update& update, const Run& run, double* change, Arena& scratch);
  void muon_runs(const Stream& stream, const Update& update, double* changes);

  OptimizerConfig config_;
  model::TensorBlock m_, v_;
  std::vector<Run> adamw_, muon_;  // muon_: largest matrix first
  std::vector<Arena> scratch_;     // one per matrix that is updated concurrently
  int64_t small_matrix_;           // largest number of elements of a matrix that one thread updates alone
  SharedArrays sums_;              // scale; squared weights and squared change of each run
  std::vector<ParameterWindow> windows_;
  std::unique_ptr<StreamedMoments> streamed_;  // null: moments are not streamed
};

}  // namespace hone::trainer
