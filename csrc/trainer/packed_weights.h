// The parameters as the network reads them: packed.
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

/// Packed copies of one set of parameters, packed again on demand after the parameters changed. A snapshot
/// that another reader holds is never rewritten.
class PackedWeights {
 public:
  using Snapshot = std::shared_ptr<model::WeightSnapshot>;

  /// `parameters` must outlive this object; with a GPU they may be in host memory. storage, arithmetic: see
  /// WeightSnapshot::make. adapted: computes W + s B A of each matrix to pack, and must outlive this object
  /// too; null without adapters.
  PackedWeights(const Stream& stream, const model::Parameters& parameters, DType storage, AdaptedWeights* adapted = nullptr,
                kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32)
      : stream_(stream), parameters_(parameters), storage_(storage), arithmetic_(arithmetic), adapted_(adapted) {}

  uint32_t version() const { return version_; }
  void set_version(uint32_t version);
  /// Must be called after the parameters were written to without a new version.
  void parameters_changed();

  /// The packed copy of the current parameters, and their transposed head. Throw kOutOfMemory.
  const Snapshot& snapshot();

  /// The snapshot into which the optimizer writes the packed copies of the next version. Null on the CPU,
  /// where packed copies are made on demand, and null with adapters, since the tensors that the optimizer
  /// updates are then not the packed ones. On a GPU it is the current snapshot, unless a reader holds that
  /// snapshot: there is no memory for a second one.
  Snapshot next() { return stream_.is_cuda() && !adapted_ ? writable() : nullptr; }
  std::vector<model::WeightSnapshot::Part> parts(const Snapshot& of) const;
  /// Must be called after the optimizer has updated the parameters, and `written`, which is what next()
  /// returned. versions: by how much the version increases.
  void advance(Snapshot written, uint32_t versions);

 private:
  Snapshot writable() const;
  bool has_other_ends() const;
  bool are_carried() const { return stream_.is_cuda() && !adapted_ && parameters_.memory() == Memory::kHost; }
  void carry() const;

  Stream stream_;
  const model::Parameters& parameters_;
  DType storage_;
  kernels::Arithmetic arithmetic_;
  AdaptedWeights* adapted_;
  uint32_t version_ = 0;
  Snapshot snapshot_;
  bool stale_ = true;
};

}  // namespace hone::trainer
