#include "trainer/weight_transfer.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "core/crc32c.h"
#include "model/sha256.h"

namespace hone::trainer {
namespace {

/// What is coming. The plan's hash covers name, shape and place of every tensor.
struct Announcement {
  char magic[8] = {'h', 'o', 'n', 'e', ' ', 'w', 't', '1'};
  uint32_t version = 0;
  uint32_t unused = 0;
  int64_t elements = 0;
  int64_t bucket_bytes = 0;
  char plan[64] = {};
};

enum Answer : uint8_t { kAccepted = 0, kOtherPlan = 1, kOldVersion = 2, kDamaged = 3 };

Announcement announcement(const model::Parameters& parameters, uint32_t version, int64_t bucket_bytes) {
  std::string text;
  for (const model::TensorSpec& spec : parameters.specs()) {
    text += spec.name + "@" + std::to_string(spec.offset);
    for (const int64_t extent : spec.shape) text.append(",").append(std::to_string(extent));
    text += ";";
  }
  Announcement out;
  out.version = version;
  out.elements = parameters.flat().numel();
  out.bucket_bytes = bucket_bytes;
  const std::string hash = model::sha256_hex(text);
  std::memcpy(out.plan, hash.data(), std::min(hash.size(), sizeof(out.plan)));
  return out;
}

/// Everybody's answer, on every rank.
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

/// Calls f(elements, number) for each bucket.
template <class F>
void each_bucket(const TensorView& values, int64_t bucket_bytes, const F& f) {
  float* const base = values.as<float>();
  const int64_t all = values.numel(), most = std::max<int64_t>(1, bucket_bytes / int64_t(sizeof(float)));
  int number = 0;
  for (int64_t begin = 0; begin < all; begin += most) f(f32(base + begin, {std::min(most, all - begin)}), number++);
}

uint32_t checksum(const TensorView& bucket) { return crc32c(bucket.data, bucket.numel() * int64_t(sizeof(float))); }

/// Rank 0's part. `checksum_of`(bucket, number) is what the others receive of a bucket.
template <class F>
std::vector<int> send_buckets(dist::Communicator& group, const model::Parameters& parameters, Announcement what, const F& checksum_of) {
  announce(group, what);
  std::vector<int> refused = refusals(answers(group, kAccepted));
  if (!refused.empty()) return refused;
  Arena staging(parameters.staging_bytes(parameters.flat()), "weights on their way to engines");
  each_bucket(parameters.read(parameters.flat(), staging), what.bucket_bytes, [&](const TensorView& bucket, int number) {
    uint32_t sum = checksum_of(bucket, number);
    group.broadcast({}, bucket, 0);
    group.broadcast({}, {&sum, DType::kU32, {1}}, 0);
    group.wait({});
  });
  return refusals(answers(group, kAccepted));
}

}  // namespace

std::vector<int> send_weights(dist::Communicator& group, const model::Parameters& parameters, uint32_t version,
                              int64_t bucket_bytes) {
  return send_buckets(group, parameters, announcement(parameters, version, bucket_bytes),
                      [](const TensorView& bucket, int) { return checksum(bucket); });
}

WeightReceiver::WeightReceiver(const model::ModelConfig& config, DType storage, ThreadPool* pool, kernels::Arithmetic arithmetic)
    : stream_{Stream::Backend::kCpu, pool, nullptr}, parameters_(config, stream_), packed_(stream_, parameters_, storage, nullptr, arithmetic) {}

uint32_t WeightReceiver::receive(dist::Communicator& group) {
  received_.reset();
  Announcement coming;
  announce(group, coming);
  const Announcement own = announcement(parameters_, coming.version, coming.bucket_bytes);
  const bool same = std::memcmp(&coming, &own, sizeof(own)) == 0 && coming.bucket_bytes > 0 && coming.bucket_bytes <= kBucketBytes;
  const bool old = committed_ && coming.version < *committed_;
  const std::vector<int> refused = refusals(answers(group, !same ? kOtherPlan : old ? kOldVersion : kAccepted));
  if (!same) fail(Code::kConfig, "receive: what rank 0 sends belongs to another model than this receiver's.");
  if (old) fail(Code::kState, "receive: version %u comes after version %u was committed.", coming.version, *committed_);
  if (!refused.empty()) fail(Code::kAborted, "receive: rank %d refused version %u; nothing was sent.", refused[0], coming.version);
  bucket_bytes_ = coming.bucket_bytes;
  receive_buckets(group);
  received_ = coming.version;
  packed_.parameters_changed();
  return coming.version;
}

void WeightReceiver::receive_buckets(dist::Communicator& group) {
  int damaged = -1;
  checksums_.clear();
  each_bucket(parameters_.flat(), bucket_bytes_, [&](const TensorView& bucket, int number) {
    uint32_t sum = 0;
    group.broadcast({}, bucket, 0);
    group.broadcast({}, {&sum, DType::kU32, {1}}, 0);
    group.wait({});
    checksums_.push_back(sum);
    if (damaged < 0 && sum != checksum(bucket)) damaged = number;
  });
  answers(group, damaged < 0 ? kAccepted : kDamaged);
  if (damaged >= 0) fail(Code::kFormat, "receive: bucket %d of the weights arrived damaged: its checksum is another.", damaged);
}

uint32_t WeightReceiver::send(dist::Communicator& group) {
  if (!received_ || received_ != committed_) fail(Code::kState, "send: no version of the weights is here whole and committed.");
  send_buckets(group, parameters_, announcement(parameters_, *received_, bucket_bytes_),
               [&](const TensorView&, int number) { return checksums_[size_t(number)]; });
  return *received_;
}

std::shared_ptr<const model::WeightSnapshot> WeightReceiver::commit() {
  if (!received_) fail(Code::kState, "commit: no complete version of the weights is here.");
  committed_ = received_;
  packed_.set_version(*received_);
  return packed_.snapshot();
}

}  // namespace hone::trainer
