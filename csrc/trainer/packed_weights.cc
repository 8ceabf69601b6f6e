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

void PackedWeights::parameters_changed() {
  if (adapted_) adapted_->base_changed();
  stale_ = transposed_stale_ = true;
}

std::vector<WeightSnapshot::Part> PackedWeights::parts(const Snapshot& of) const {
  return of ? of->parts(parameters_) : std::vector<WeightSnapshot::Part>{};
}

const PackedWeights::Snapshot& PackedWeights::snapshot() {
  if (!stale_) return snapshot_;
  model::FormedWeights formed;
  if (adapted_) {
    adapted_->prepare();
    formed = [this](const TensorView& from) { return adapted_->form(from, true); };
  }
  if (snapshot_) {
    const Snapshot room = writable();
    if (adapted_ && room != snapshot_) room->assign(stream_, *snapshot_);  // what no adapter changes
    snapshot_ = room;
    snapshot_->repack(stream_, parameters_, version_, formed);
  } else {
    snapshot_ = WeightSnapshot::make(stream_, parameters_, version_, storage_, formed);
  }
  if (adapted_) adapted_->packed();
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
  model::FormedWeights formed;
  if (adapted_) formed = [this](const TensorView& from) { return adapted_->form(from, false); };
  transposed_ = model::transpose_weights(stream_, parameters_, *current, transposed_arena_, formed);
  transposed_stale_ = false;
  return transposed_;
}

void PackedWeights::advance(Snapshot written) {
  ++version_;
  stale_ = transposed_stale_ = true;
  if (!written) return;
  snapshot_ = std::move(written);
  snapshot_->version = version_;
  stale_ = false;
}

}  // namespace hone::trainer
