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

/// The kind of pass over the network.
enum class Pass : uint8_t { kForward, kTraining };

/// Packed weights of one layer at a time, and of the tensors outside of layers, in the stream's memory. All ranks
/// gather the same layers in the same order: 0 .. L - 1, and for a backward L - 2 .. 0; each while the previous one is
/// computed. A rank that computes nothing makes the same collectives. On a GPU layers are transferred on a separate
/// stream.
class WeightWindow final : public model::LayerWeights {
 public:
  /// From `parameters`, in host memory, each rank reads its own shard of layers, and everything outside of them. All
  /// must outlive this. Throws kOutOfMemory.
  struct Source {
    const model::Parameters& parameters;
    const ShardLayout& layout;
    dist::Communicator& ranks;
    bool in_teams = false;  // the stream may wait for other ranks during a pass
  };
  WeightWindow(const Stream& stream, const Source& source, DType storage, kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);

  /// Begins a pass and starts gathering its first layer. All ranks make this call and those below together.
  void begin(Pass pass);
  void forward(int64_t layer) override;
  void backward(int64_t layer) override;
  /// Gathers the layers before that layer's backward without packing: for a rank that does not compute it.
  void reach_backward(int64_t layer);
  /// Gathers the remaining layers of the pass.
  void end();
  /// Call after the tensors outside of layers were written.
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
  Device ahead_;  // whose stream transfers layers
  Event arrived_, unpacked_;  // a layer has arrived; its buffers have been read
  Source from_;
  int64_t layers_;
  Arena memory_, head_memory_;
  float *out_ = nullptr, *in_ = nullptr, *layer_ = nullptr;  // buffers to send, to receive, and the current layer
  int64_t gathers_ = 0, done_ = 0;                           // layers that this pass gathers; has gathered
  bool ends_stale_ = true;
  std::shared_ptr<model::WeightSnapshot> packed_;
  kernels::PackedMatrix transposed_head_;
};

/// Bytes that gathering takes, packed weights not included.
int64_t weight_window_bytes(const ShardLayout& layout, int64_t layers);

}  // namespace hone::trainer
