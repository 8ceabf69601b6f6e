#include "trainer/weight_transfer.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <string>
#include <utility>

#include "core/crc32c.h"
#include "model/parameters.h"
#include "model/sha256.h"

namespace hone::trainer {
namespace {

/// The header of a transfer. The hash covers name, shape and offset of every tensor, and how they are packed.
struct Announcement {
  char magic[8] = {'h', 'o', 'n', 'e', ' ', 'w', 't', '2'};
  uint32_t version = 0;
  uint32_t unused = 0;
  int64_t bytes = 0;
  int64_t bucket_bytes = 0;
  char plan[64] = {};
};

enum Answer : uint8_t { kAccepted = 0, kOtherPlan = 1, kOldVersion = 2, kDamaged = 3 };

Announcement announcement(const Stream& stream, const model::WeightSnapshot& weights, uint32_t version, int64_t bucket_bytes) {
  std::string text = std::string(dtype_name(weights.storage)) + "/" + kernels::arithmetic_name(weights.arithmetic) +
                     (stream.is_cuda() ? "/gpu;" : "/cpu;");
  for (const model::TensorSpec& spec : model::tensor_specs(weights.config)) {
    text += spec.name + "@" + std::to_string(spec.offset);
    for (const int64_t extent : spec.shape) text.append(",").append(std::to_string(extent));
    text += ";";
  }
  Announcement out;
  out.version = version;
  out.bytes = weights.bytes();
  out.bucket_bytes = bucket_bytes;
  const std::string hash = model::sha256_hex(text);
  std::memcpy(out.plan, hash.data(), std::min(hash.size(), sizeof(out.plan)));
  return out;
}

/// Gathers the answers of all ranks on every rank.
std::vector<uint8_t> answers(dist::Communicator& group, Answer own) {
  uint8_t mine = own;
  std::vector<uint8_t> all(static_cast<size_t>(group.size()));
  group.all_gather({}, u8(&mine, {1}), u8(all.data(), {group.size()}));
  group.wait({});
  return all;
}

std::vector<int> refusals(const std::vector<uint8_t>& answers) {
  std::vector<int> ranks;
  for (size_t rank = 0; rank < answers.size(); ++rank) {
    if (answers[rank] != kAccepted) ranks.push_back(int(rank));
  }
  return ranks;
}

void announce(dist::Communicator& group, Announcement& what) {
  group.broadcast({}, {&what, DType::kU8, {int64_t(sizeof(what))}}, 0);
  group.wait({});
}

/// Calls f(bytes, number) for each bucket of the weights.
template <class F>
void each_bucket(const model::WeightSnapshot& weights, int64_t bucket_bytes, const F& f) {
  int number = 0;
  for (const TensorView& block : weights.blocks()) {
    const int64_t all = block.numel();
    for (int64_t begin = 0; begin < all; begin += bucket_bytes) {
      f(u8(block.as<uint8_t>() + begin, {std::min(bucket_bytes, all - begin)}), number++);
    }
  }
}

uint32_t checksum(const TensorView& bucket) { return crc32c(bucket.data, bucket.numel()); }

/// Rank 0's side of a transfer. send(bucket, number) sends a bucket to the others, which receive it together.
template <class F>
std::vector<int> send_buckets(dist::Communicator& group, const Stream& stream, const model::WeightSnapshot& weights,
                              int64_t bucket_bytes, const F& send) {
  Announcement what = announcement(stream, weights, weights.version, bucket_bytes);
  announce(group, what);
  std::vector<int> refused = refusals(answers(group, kAccepted));
  if (!refused.empty()) return refused;
  each_bucket(weights, bucket_bytes, send);
  return refusals(answers(group, kAccepted));
}

/// Broadcasts rank 0's bucket in host memory, and `sum`, its checksum.
void exchange(dist::Communicator& group, const TensorView& bucket, uint32_t& sum) {
  group.broadcast({}, bucket, 0);
  group.broadcast({}, {&sum, DType::kU32, {1}}, 0);
  group.wait({});
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
    : config_(config), device_(device, pool), storage_(storage), arithmetic_(arithmetic) {}

/// Returns a snapshot that may be overwritten: the newest if no engine holds it, else the spare one, or a new
/// one.
model::WeightSnapshot& WeightReceiver::writable() {
  if (newest_ && newest_.use_count() > 1) std::swap(newest_, spare_);
  if (!newest_ || newest_.use_count() > 1) {
    const Stream& stream = device_.stream();
    const Memory memory = stream.is_cuda() ? Memory::kPinned : Memory::kHost;
    newest_ = model::WeightSnapshot::empty(stream, config_, storage_, arithmetic_, memory);
  }
  // pairs with the release of the snapshot by a reader on another thread
  std::atomic_thread_fence(std::memory_order_acquire);
  return *newest_;
}

uint32_t WeightReceiver::receive(dist::Communicator& group) {
  received_.reset();
  Announcement coming;
  announce(group, coming);
  const Announcement own = announcement(device_.stream(), writable(), coming.version, coming.bucket_bytes);
  const bool same = std::memcmp(&coming, &own, sizeof(own)) == 0 && coming.bucket_bytes > 0 && coming.bucket_bytes <= kBucketBytes;
  const bool old = committed_ && coming.version < *committed_;
  const std::vector<int> refused = refusals(answers(group, !same ? kOtherPlan : old ? kOldVersion : kAccepted));
  if (!same) fail(Code::kConfig, "receive: what rank 0 sends belongs to another model than this receiver's, or is packed otherwise.");
  if (old) fail(Code::kState, "receive: version %u comes after version %u was committed.", coming.version, *committed_);
  if (!refused.empty()) fail(Code::kAborted, "receive: rank %d refused version %u; nothing was sent.", refused[0], coming.version);
  bucket_bytes_ = coming.bucket_bytes;
  receive_buckets(group);
  newest_->version = coming.version;
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
  each_bucket(*newest_, bucket_bytes_, [&](const TensorView& bucket, int number) {
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
  return newest_;
}

}  // namespace hone::trainer
