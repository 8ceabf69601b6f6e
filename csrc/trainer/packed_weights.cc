#include "trainer/packed_weights.h"

#include <atomic>
#include <utility>

#include "core/device.h"

namespace hone::trainer {

using model::WeightSnapshot;

namespace {

constexpr int64_t kCarried = int64_t(1) << 22;  // elements copied to a GPU at a time

}  // namespace

void PackedWeights::set_version(uint32_t version) {
  stale_ = stale_ || version != version_;  // a snapshot also stores its version
  version_ = version;
}

PackedWeights::Snapshot PackedWeights::writable() const {
  const bool layers_alone = adapted_ && !adapted_->is_whole();
  if (snapshot_.use_count() > 1 && layers_alone) return snapshot_->with_layers(stream_);
  if (snapshot_.use_count() > 1 || (!layers_alone && snapshot_->shares_ends())) return snapshot_->blank(stream_);
  // pairs with the release of the snapshot by a reader on another thread
  std::atomic_thread_fence(std::memory_order_acquire);
  return snapshot_;
}

/// Whether the base that comes next is stored otherwise than the one that the snapshot was made of.
bool PackedWeights::has_other_ends() const {
  return adapted_ && adapted_->is_whole() && !stream_.is_cuda() && snapshot_->ends != parameters_.dtype();
}

void PackedWeights::parameters_changed() {
  if (adapted_) adapted_->base_changed();
  stale_ = true;
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
  if (snapshot_ && has_other_ends()) snapshot_.reset();
  if (snapshot_) {
    const Snapshot room = writable();
    // copies the tensors that no adapter changes
    if (adapted_ && room != snapshot_) room->assign(stream_, *snapshot_);
    snapshot_ = room;
    snapshot_->repack(stream_, parameters_, version_, formed);
  } else {
    snapshot_ = WeightSnapshot::make(stream_, parameters_, version_, storage_, formed, arithmetic_);
  }
  if (adapted_) adapted_->packed();
  if (are_carried()) carry();
  stale_ = false;
  return snapshot_;
}

void PackedWeights::carry() const {
  Arena room(kCarried * int64_t(sizeof(float)), "weights on their way to the GPU", Memory::kDevice);
  const TensorView piece = room.take_view(DType::kF32, {kCarried});
  for (const WeightSnapshot::Part& part : snapshot_->parts(parameters_)) model::pack_carried(stream_, part, piece);
  synchronize(stream_);  // the copies must end before `room` is freed
}

void PackedWeights::advance(Snapshot written, uint32_t versions) {
  version_ += versions;
  stale_ = true;
  if (!written) return;
  snapshot_ = std::move(written);
  snapshot_->version = version_;
  stale_ = false;
}

}  // namespace hone::trainer
