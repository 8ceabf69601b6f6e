// Gathers sharded weights layer by layer during a pass over the network.
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

/// The kind of pass over the network: a forward alone, or a forward and a backward.
enum class Pass : uint8_t { kForward, kTraining };

/// Holds, in the stream's memory, the packed weights of one layer at a time, and of the tensors outside of
/// layers. All ranks gather the same layers in the same order: 0 .. L - 1 for the forward, then L - 2 .. 0
/// for a backward; each layer is gathered while the previous one is computed. A rank that computes nothing
/// takes part in the same collectives. On a GPU layers are transferred on a separate stream.
class WeightWindow final : public model::LayerWeights {
 public:
  /// Where the weights come from: of `parameters`, in host memory, each rank reads its own shard of the
  /// layers, and everything outside of layers. References must outlive the WeightWindow, whose constructor
  /// throws kOutOfMemory.
  struct Source {
    const model::Parameters& parameters;
    const ShardLayout& layout;
    dist::Communicator& ranks;
    bool in_teams = false;  // during a pass the stream may wait for other ranks of a team
  };
  WeightWindow(const Stream& stream, const Source& source, DType storage, kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);

  /// Begins a pass and starts gathering its first layer. All ranks call it, and each method below, together.
  void begin(Pass pass);
  void forward(int64_t layer) override;
  void backward(int64_t layer) override;
  /// Gathers every layer that comes before `layer` in the backward, without packing, on a rank that computes
  /// no backward.
  void reach_backward(int64_t layer);
  /// Gathers the remaining layers of the pass.
  void end();
  /// Must be called after the tensors outside of layers were written to.
  void ends_changed() { ends_stale_ = true; }

  const model::WeightSnapshot& packed() const { return *packed_; }

 private:
  int64_t layer_at(int64_t gather) const;
  void start(int64_t layer);
  void advance();
  void reach(int64_t gather);
  void pack_ends();
  void pack(int64_t layer);
  model::LayerViews gathered(int64_t layer) const;

  Stream stream_;
  Device ahead_;  // owns the stream that transfers layers
  Event arrived_, unpacked_;  // recorded when a layer has arrived; when its buffers have been read
  Source from_;
  int64_t layers_;
  Arena memory_;
  float *out_ = nullptr, *in_ = nullptr, *layer_ = nullptr;  // buffers to send, to receive, and the current layer
  int64_t gathers_ = 0, done_ = 0;                           // layers that this pass gathers; has gathered
  bool ends_stale_ = true;
  std::shared_ptr<model::WeightSnapshot> packed_;
};

/// Bytes that gathering takes, without the packed weights.
int64_t weight_window_bytes(const ShardLayout& layout, int64_t layers);

}  // namespace hone::trainer
