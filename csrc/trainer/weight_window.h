// Weights of ranks that each keep their shard of the layers: a pass over the network gathers them layer by layer.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/device.h"
#include "dist/communicator.h"
#include "model/network.h"
#include "model/weight_snapshot.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {

/// What a pass over the network does with the weights.
enum class Pass : uint8_t { kForward, kTraining };

/// Packed weights of one layer at a time, and of what lies outside of layers, in the stream's memory. All ranks gather the
/// same layers in the same order: 0 .. L - 1, and for a backward L - 2 .. 0; each while the one before it is computed. A rank that
/// computes nothing makes the same collectives. On a GPU layers travel on a stream of their own.
class WeightWindow final : public model::LayerWeights {
 public:
  /// Of `parameters`, in the host's memory, each rank reads its own shard of layers, and all that is outside of them.
  /// All must outlive this. Throws kOutOfMemory.
  struct Source {
    const model::Parameters& parameters;
    const ShardLayout& layout;
    dist::Communicator& ranks;
    bool in_teams = false;  // amid a pass the stream may wait for other ranks
  };
  WeightWindow(const Stream& stream, const Source& source, DType storage, kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);

  /// A pass begins: the first layer is on its way. All ranks together, as all below.
  void begin(Pass pass);
  void forward(int64_t layer) override;
  void backward(int64_t layer) override;
  /// Gathers what comes before a backward of that layer, and packs nothing: for a rank that does not compute it.
  void reach_backward(int64_t layer);
  /// Whatever of the pass is left.
  void end();
  /// What is outside of layers was written.
  void ends_changed() { ends_stale_ = true; }

  const model::WeightSnapshot& packed() const { return *packed_; }
  const kernels::PackedMatrix& transposed_head() const { return transposed_head_; }

 private:
  int64_t layer_at(int64_t gather) const;
  void start(int64_t layer);
  void advance();
  void reach(int64_t gather);
  void pack_ends();
  void pack(int64_t layer);
  model::LayerViews gathered(int64_t layer) const;

  Stream stream_;
  Device ahead_;  // on which layers travel
  Event arrived_, unpacked_;  // of a layer: all of it is there; it was read
  Source from_;
  int64_t layers_;
  Arena memory_, head_memory_;
  float *out_ = nullptr, *in_ = nullptr, *layer_ = nullptr;  // what is sent, what arrives, and the layer that is there
  int64_t gathers_ = 0, done_ = 0;                           // of this pass
  bool ends_stale_ = true;
  std::shared_ptr<model::WeightSnapshot> packed_;
  kernels::PackedMatrix transposed_head_;
};

/// Bytes that gathering takes, packed weights not included.
int64_t weight_window_bytes(const ShardLayout& layout, int64_t layers);

}  // namespace hone::trainer
