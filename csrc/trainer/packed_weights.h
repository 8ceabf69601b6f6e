// The parameters as the network reads them: packed, and the head transposed too, for its backward.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "model/network.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"
#include "trainer/adapted_weights.h"

namespace hone::trainer {

/// Packed copies of one set of parameters, rebuilt on demand after the parameters changed. Never rewrites a snapshot
/// that another reader holds.
class PackedWeights {
 public:
  using Snapshot = std::shared_ptr<model::WeightSnapshot>;

  /// `parameters` must outlive this; with a GPU they may be in host memory. storage, arithmetic: see
  /// WeightSnapshot::make. adapted: computes the packed matrices from the parameters, and must outlive this too; or
  /// null.
  PackedWeights(const Stream& stream, const model::Parameters& parameters, DType storage, AdaptedWeights* adapted = nullptr,
                kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32)
      : stream_(stream), parameters_(parameters), storage_(storage), arithmetic_(arithmetic), adapted_(adapted) {}

  uint32_t version() const { return version_; }
  void set_version(uint32_t version);
  /// Call after writing to the parameters without a new version.
  void parameters_changed();

  /// For the current parameters. Throws kOutOfMemory.
  const Snapshot& snapshot();
  const kernels::PackedMatrix& transposed_head();

  /// The snapshot into which an optimizer writes the packed copies of the next version. Null on the CPU, where packed
  /// copies are made on demand. On a GPU it is the current snapshot, unless a reader holds that: a second copy would
  /// not fit.
  /// Null with adapters too: the changed tensors are then not the packed ones.
  Snapshot next() { return stream_.is_cuda() && !adapted_ ? writable() : nullptr; }
  std::vector<model::WeightSnapshot::Part> parts(const Snapshot& of) const;
  /// Call after updating the parameters, and `written`, which next() returned. versions: how many to add.
  void advance(Snapshot written, uint32_t versions);

 private:
  Snapshot writable() const;
  bool are_carried() const { return stream_.is_cuda() && !adapted_ && parameters_.memory() == Memory::kHost; }
  void carry() const;

  Stream stream_;
  const model::Parameters& parameters_;
  DType storage_;
  kernels::Arithmetic arithmetic_;
  AdaptedWeights* adapted_;
  uint32_t version_ = 0;
  Snapshot snapshot_;
  bool stale_ = true, head_stale_ = true;
  Arena head_arena_;
  kernels::PackedMatrix transposed_head_;
};

}  // namespace hone::trainer
