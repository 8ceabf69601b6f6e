#include "trainer/weight_transfer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <utility>

namespace hone::trainer {
namespace {

Announcement announcement(const Stream& stream, const model::WeightSnapshot& weights, uint32_t version, int64_t bucket_bytes) {
  Announcement out;
  out.version = version;
  out.base_type = uint32_t(weights.ends);
  out.bytes = weights.bytes();
  out.bucket_bytes = bucket_bytes;
  write_field(transfer_plan(stream, weights.config, weights.storage, weights.arithmetic), out.plan, sizeof(out.plan));
  return out;
}

/// Rank 0's side of a transfer. send(bucket, number) sends a bucket to the others, which receive it together.
template <class F>
std::vector<int> send_buckets(dist::Communicator& group, const Stream& stream, const model::WeightSnapshot& weights,
                              int64_t bucket_bytes, const F& send) {
  Announcement what = announcement(stream, weights, weights.version, bucket_bytes);
  announce(group, what);
  std::vector<int> refused = refusals(answers(group, kAccepted));
  if (!refused.empty()) return refused;
  each_bucket(weights.blocks(), bucket_bytes, send);
  return refusals(answers(group, kAccepted));
}

void exchange_on_gpu(dist::Communicator& group, const Stream& stream, const TensorView& bucket) {
  group.broadcast(stream, bucket, 0);
  group.wait(stream);
}

TensorView first(const TensorView& staging, const TensorView& like) { return u8(staging.as<uint8_t>(), {like.numel()}); }

}  // namespace

std::vector<int> send_weights(dist::Communicator& group, const Stream& stream, const model::WeightSnapshot& weights,
                              int64_t bucket_bytes) {
  return send_buckets(group, stream, weights, bucket_bytes, [&](const TensorView& bucket, int) {
    if (stream.is_cuda()) return exchange_on_gpu(group, stream, bucket);
    uint32_t sum = checksum(bucket);
    exchange(group, bucket, sum);
  });
}

WeightReceiver::WeightReceiver(const model::ModelConfig& config, Stream::Backend device, DType storage, ThreadPool* pool,
                               kernels::Arithmetic arithmetic)
    : config_(config), device_(device, pool), storage_(storage), arithmetic_(arithmetic), adapted_(device_.stream(), config, storage, arithmetic) {}

/// Returns a snapshot that may be overwritten: the newest if no engine holds it, else the spare one, or a new
/// one.
model::WeightSnapshot& WeightReceiver::writable(DType ends) {
  if (newest_ && newest_.use_count() > 1) std::swap(newest_, spare_);
  if (!newest_ || newest_.use_count() > 1 || newest_->ends != ends) {
    const Stream& stream = device_.stream();
    const Memory memory = stream.is_cuda() ? Memory::kPinned : Memory::kHost;
    newest_ = model::WeightSnapshot::empty(stream, config_, storage_, arithmetic_, memory, ends);
  }
  // pairs with the release of the snapshot by a reader on another thread
  std::atomic_thread_fence(std::memory_order_acquire);
  return *newest_;
}

bool WeightReceiver::fits(const Announcement& coming) {
  const bool sized = has_base_type(coming) && coming.bucket_bytes > 0 && coming.bucket_bytes <= kBucketBytes;
  if (!sized) return false;
  if (coming.contents == Contents::kAdapters) return adapted_.fits(coming);
  const Announcement own = announcement(device_.stream(), writable(DType(coming.base_type)), coming.version, coming.bucket_bytes);
  return std::memcmp(&coming, &own, sizeof(own)) == 0;
}

uint32_t WeightReceiver::receive(dist::Communicator& group) {
  received_.reset();
  Announcement coming;
  announce(group, coming);
  are_adapters_ = coming.contents == Contents::kAdapters;
  const bool same = fits(coming), old = committed_ && coming.version < *committed_;
  const bool needs_base = same && are_adapters_ && !adapted_.find_base(coming);
  const std::vector<uint8_t> said = answers(group, !same ? kOtherPlan : old ? kOldVersion : needs_base ? kNeedsBase : kAccepted);
  const std::vector<int> refused = refusals(said);
  if (!same) fail(Code::kConfig, "receive: what rank 0 sends belongs to another model than this receiver's, or is packed otherwise.");
  if (old) fail(Code::kState, "receive: version %u comes after version %u was committed.", coming.version, *committed_);
  if (!refused.empty()) fail(Code::kAborted, "receive: rank %d refused version %u; nothing was sent.", refused[0], coming.version);
  if (are_adapters_) {
    adapted_.receive(group, coming, std::find(said.begin(), said.end(), kNeedsBase) != said.end());
  } else {
    bucket_bytes_ = coming.bucket_bytes;
    receive_buckets(group);
    newest_->version = coming.version;
  }
  received_ = coming.version;
  return coming.version;
}

TensorView WeightReceiver::staging() {
  if (!device_.stream().is_cuda()) return {};
  const int64_t bytes = std::min(bucket_bytes_, newest_->bytes());
  if (staging_.capacity() < bytes) staging_ = Arena(bytes, "weights on their way to engines", Memory::kDevice);
  staging_.release(0);
  return staging_.take_view(DType::kU8, {bytes});
}

void WeightReceiver::receive_buckets(dist::Communicator& group) {
  const Stream& stream = device_.stream();
  const TensorView staged = staging();
  int damaged = -1;
  checksums_.clear();
  each_bucket(newest_->blocks(), bucket_bytes_, [&](const TensorView& bucket, int number) {
    if (stream.is_cuda()) {
      exchange_on_gpu(group, stream, first(staged, bucket));
      return download(stream, bucket.data, staged.data, bucket.numel());
    }
    uint32_t sum = 0;
    exchange(group, bucket, sum);
    checksums_.push_back(sum);
    if (damaged < 0 && sum != checksum(bucket)) damaged = number;
  });
  answers(group, damaged < 0 ? kAccepted : kDamaged);
  if (damaged >= 0) fail(Code::kFormat, "receive: bucket %d of the weights arrived damaged: its checksum is another.", damaged);
}

uint32_t WeightReceiver::send(dist::Communicator& group) {
  if (!received_ || received_ != committed_) fail(Code::kState, "send: no version of the weights is here whole and committed.");
  if (are_adapters_) return adapted_.send(group), *received_;
  const Stream& stream = device_.stream();
  const TensorView staged = staging();
  send_buckets(group, stream, *newest_, bucket_bytes_, [&](const TensorView& bucket, int number) {
    if (!stream.is_cuda()) return exchange(group, bucket, checksums_[size_t(number)]);
    upload(stream, staged.data, bucket.data, bucket.numel());
    exchange_on_gpu(group, stream, first(staged, bucket));
  });
  return *received_;
}

std::shared_ptr<const model::WeightSnapshot> WeightReceiver::commit() {
  if (!received_) fail(Code::kState, "commit: no complete version of the weights is here.");
  committed_ = received_;
  if (are_adapters_) return adapted_.snapshot();
  return newest_;
}

}  // namespace hone::trainer
