// The parameters as the network reads them: packed for the forward pass, transposed for the backward.
#pragma once

#include <cstdint>
#include <memory>

#include "core/arena.h"
#include "model/network.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"

namespace hone::trainer {

/// Packs of one set of parameters, remade when asked for after the parameters changed. Snapshots that somebody else holds
/// are never rewritten.
class PackedWeights {
 public:
  using Snapshot = std::shared_ptr<model::WeightSnapshot>;

  /// `parameters` must outlive this. storage: as WeightSnapshot::make has it.
  PackedWeights(const Stream& stream, const model::Parameters& parameters, DType storage)
      : stream_(stream), parameters_(parameters), storage_(storage) {}

  uint32_t version() const { return version_; }
  void set_version(uint32_t version);
  /// The parameters were written; the version is the same.
  void parameters_changed() { stale_ = transposed_stale_ = true; }

  /// Of the current parameters. Throws kOutOfMemory.
  const Snapshot& snapshot();
  const model::TransposedWeights& transposed();

  /// Where an optimizer writes the packs of the next version while it computes it; null on the CPU, whose packs are made
  /// when they are asked for. On a GPU the present packs are overwritten if nobody else reads them: a second copy would
  /// not fit.
  Snapshot next() { return stream_.is_cuda() ? writable() : nullptr; }
  /// The parameters have become those of the next version, and those in `written` with them, which next() gave.
  void advance(Snapshot written);

 private:
  Snapshot writable() const;

  Stream stream_;
  const model::Parameters& parameters_;
  DType storage_;
  uint32_t version_ = 0;
  Snapshot snapshot_;
  bool stale_ = true, transposed_stale_ = true;
  Arena transposed_arena_;
  model::TransposedWeights transposed_;
};

}  // namespace hone::trainer
