// The parameters as the network reads them: packed for the forward pass, transposed for the backward.
#pragma once

#include <cstdint>
#include <memory>

#include "core/arena.h"
#include "model/network.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"

namespace hone::trainer {

/// Packed copies of one set of parameters, rebuilt on demand after the parameters changed. A snapshot that somebody
/// else holds is never rewritten.
class PackedWeights {
 public:
  using Snapshot = std::shared_ptr<model::WeightSnapshot>;

  /// `parameters` must outlive this. storage: see WeightSnapshot::make.
  PackedWeights(const Stream& stream, const model::Parameters& parameters, DType storage)
      : stream_(stream), parameters_(parameters), storage_(storage) {}

  uint32_t version() const { return version_; }
  void set_version(uint32_t version);
  /// Call after writing to the parameters without a new version.
  void parameters_changed() { stale_ = transposed_stale_ = true; }

  /// Of the current parameters. Throws kOutOfMemory.
  const Snapshot& snapshot();
  const model::TransposedWeights& transposed();

  /// The snapshot into which an optimizer writes the packed copies of the next version. Null on the CPU, where packed
  /// copies are made on demand. On a GPU it is the present snapshot, unless somebody else reads that: a second copy
  /// would not fit.
  Snapshot next() { return stream_.is_cuda() ? writable() : nullptr; }
  /// Call when the parameters, and with them `written`, which next() gave, hold the next version.
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
