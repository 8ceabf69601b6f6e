#include "trainer/packed_weights.h"

#include <atomic>
#include <utility>

namespace hone::trainer {

using model::WeightSnapshot;

void PackedWeights::set_version(uint32_t version) {
  stale_ = stale_ || version != version_;  // a snapshot carries its version
  version_ = version;
}

PackedWeights::Snapshot PackedWeights::writable() const {
  if (snapshot_.use_count() > 1) return snapshot_->blank(stream_);
  std::atomic_thread_fence(std::memory_order_acquire);  // the last reader of another thread is done
  return snapshot_;
}

const PackedWeights::Snapshot& PackedWeights::snapshot() {
  if (!stale_) return snapshot_;
  if (snapshot_) {
    snapshot_ = writable();
    snapshot_->repack(stream_, parameters_, version_);
  } else {
    snapshot_ = WeightSnapshot::make(stream_, parameters_, version_, storage_);
  }
  stale_ = false;
  transposed_stale_ = true;  // on a GPU the transposes are views of the snapshot
  return snapshot_;
}

const model::TransposedWeights& PackedWeights::transposed() {
  const Snapshot& current = snapshot();
  if (!transposed_stale_) return transposed_;
  if (transposed_arena_.capacity() == 0) {
    transposed_arena_ = Arena(model::transposed_bytes(stream_, parameters_.config(), storage_), "transposed weights");
  }
  transposed_arena_.release(0);
  transposed_ = model::transpose_weights(stream_, parameters_, *current, transposed_arena_);
  transposed_stale_ = false;
  return transposed_;
}

void PackedWeights::advance(Snapshot written) {
  ++version_;
  parameters_changed();
  if (!written) return;
  snapshot_ = std::move(written);
  snapshot_->version = version_;
  stale_ = false;
}

}  // namespace hone::trainer
