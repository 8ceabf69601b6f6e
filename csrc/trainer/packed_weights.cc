#include "trainer/packed_weights.h"

#include <atomic>
#include <utility>

#include "core/device.h"

namespace hone::trainer {

using model::WeightSnapshot;

namespace {

constexpr int64_t kCarried = int64_t(1) << 22;  // elements that go to a GPU at a time

}  // namespace

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
  if (are_carried()) formed = [](const TensorView&) { return TensorView{}; };
  if (snapshot_) {
    const Snapshot room = writable();
    if (adapted_ && room != snapshot_) room->assign(stream_, *snapshot_);  // what no adapter changes
    snapshot_ = room;
    snapshot_->repack(stream_, parameters_, version_, formed);
  } else {
    snapshot_ = WeightSnapshot::make(stream_, parameters_, version_, storage_, formed, arithmetic_);
  }
  if (adapted_) adapted_->packed();
  if (are_carried()) carry();
  stale_ = false;
  transposed_stale_ = true;  // on a GPU the transposes are views of the snapshot
  return snapshot_;
}

void PackedWeights::carry() const {
  Arena room(kCarried * int64_t(sizeof(float)), "weights on their way to the GPU", Memory::kDevice);
  const TensorView piece = room.take_view(DType::kF32, {kCarried});
  for (const WeightSnapshot::Part& part : snapshot_->parts(parameters_)) model::pack_carried(stream_, part, piece);
  synchronize(stream_);  // who reads the room is done
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

void PackedWeights::advance(Snapshot written, uint32_t versions) {
  version_ += versions;
  stale_ = transposed_stale_ = true;
  if (!written) return;
  snapshot_ = std::move(written);
  snapshot_->version = version_;
  stale_ = false;
}

}  // namespace hone::trainer
