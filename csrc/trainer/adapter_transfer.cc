#include "trainer/adapter_transfer.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/error.h"
#include "model/sha256.h"
#include "trainer/adapted_weights.h"
#include "trainer/packed_weights.h"

namespace hone::trainer {
namespace {

TensorView bytes_of(const model::TensorBlock& block) {
  const TensorView flat = block.flat();
  return u8(flat.as<uint8_t>(), {flat.numel() * dtype_bytes(flat.dtype)});
}

std::string id_of(const model::Parameters& base, const std::vector<uint32_t>& sums) {
  std::string text = transfer_plan(Stream{}, base.config(), base.dtype(), kernels::Arithmetic::kF32);
  for (const uint32_t sum : sums) text.append(",").append(std::to_string(sum));
  return model::sha256_hex(text);
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  std::vector<std::string> said;
  for (const std::string& name : names) {
    if (std::find(said.begin(), said.end(), name) != said.end()) continue;
    if (!said.empty()) out += ',';
    out += name;
    said.push_back(name);
  }
  return out;
}

model::AdapterConfig adapters_of(const Announcement& what) {
  const std::string text(what.targets, strnlen(what.targets, sizeof(what.targets)));
  model::AdapterConfig out{what.rank, what.alpha};
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    out.targets.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

std::string id_in(const Announcement& what) { return {what.base, sizeof(what.base)}; }

Announcement announcement(const AdapterSource& source) {
  const model::AdapterConfig& config = source.adapters.config();
  Announcement out;
  out.version = source.version;
  out.contents = Contents::kAdapters;
  out.bytes = bytes_of(source.adapters.block()).numel();
  out.bucket_bytes = source.sums.bucket_bytes;
  out.rank = config.rank;
  out.alpha = config.alpha;
  out.base_type = uint32_t(source.base.dtype());
  write_field(transfer_plan(Stream{}, source.base.config(), source.storage, source.arithmetic), out.plan, sizeof(out.plan));
  write_field(source.sums.id, out.base, sizeof(out.base));
  write_field(joined(config.targets), out.targets, sizeof(out.targets));
  return out;
}

/// sums: of the adapters' buckets; null: computed now.
std::vector<int> send_announced(dist::Communicator& group, const AdapterSource& source, const std::vector<uint32_t>* sums) {
  Announcement what = announcement(source);
  announce(group, what);
  const std::vector<uint8_t> said = answers(group, kAccepted);
  std::vector<int> refused = refusals(said);
  if (!refused.empty()) return refused;
  const auto send = [&](const model::TensorBlock& block, const std::vector<uint32_t>* known) {
    each_bucket({bytes_of(block)}, what.bucket_bytes, [&](const TensorView& bucket, int number) {
      uint32_t sum = known ? (*known)[size_t(number)] : checksum(bucket);
      exchange(group, bucket, sum);
    });
  };
  if (std::find(said.begin(), said.end(), kNeedsBase) != said.end()) send(source.base, &source.sums.sums);
  send(source.adapters.block(), sums);
  return refusals(answers(group, kAccepted));
}

}  // namespace

void sum_base(model::Parameters& base, int64_t bucket_bytes, BaseSums& sums) {
  if (sums.bucket_bytes == bucket_bytes) return;
  base.store_as(DType::kBF16);
  std::vector<uint32_t> all;
  each_bucket({bytes_of(base)}, bucket_bytes, [&](const TensorView& bucket, int) { all.push_back(checksum(bucket)); });
  sums = {id_of(base, all), bucket_bytes, all};
}

std::vector<int> send_adapters(dist::Communicator& group, const AdapterSource& source) { return send_announced(group, source, nullptr); }

/// A base as it was received. Written by one receiver, before others see it.
struct AdapterReceiver::Base {
  model::Parameters parameters;
  BaseSums sums;

  /// Those that receivers of this process hold, by id: an engine for training and one for evaluation share one.
  static std::shared_ptr<Base> find(const std::string& id) {
    const std::lock_guard lock(mutex());
    const auto found = all().find(id);
    return found == all().end() ? nullptr : found->second.lock();
  }
  static void add(const std::shared_ptr<Base>& base) {
    const std::lock_guard lock(mutex());
    std::erase_if(all(), [](const auto& each) { return each.second.expired(); });
    all()[base->sums.id] = base;
  }

 private:
  static std::mutex& mutex() { static std::mutex one; return one; }
  static std::map<std::string, std::weak_ptr<Base>>& all() { static std::map<std::string, std::weak_ptr<Base>> them; return them; }
};

/// Adapters over a base, and the weights that they form.
struct AdapterReceiver::Forming {
  std::shared_ptr<Base> base;
  model::Adapters adapters;
  AdaptedWeights adapted;
  PackedWeights weights;

  Forming(const Stream& stream, std::shared_ptr<Base> of, const model::AdapterConfig& config, DType storage, kernels::Arithmetic arithmetic)
      : base(std::move(of)),
        adapters(base->parameters.config(), config, stream),
        adapted(stream, base->parameters, adapters),
        weights(stream, base->parameters, storage, &adapted, arithmetic) {}
};

AdapterReceiver::AdapterReceiver(const Stream& stream, const model::ModelConfig& model, DType storage, kernels::Arithmetic arithmetic)
    : stream_(stream), model_(model), storage_(storage), arithmetic_(arithmetic) {}
AdapterReceiver::~AdapterReceiver() = default;

bool AdapterReceiver::fits(const Announcement& coming) const {
  const std::string plan = transfer_plan(stream_, model_, storage_, arithmetic_);
  if (!has_base_type(coming) || std::string(coming.magic, 8) != std::string(Announcement{}.magic, 8) || plan != std::string(coming.plan, sizeof(coming.plan))) return false;
  try {
    return coming.bytes == model::total_elements(model::adapter_specs(model_, adapters_of(coming))) * int64_t(sizeof(float));
  } catch (const Error&) {
    return false;  // the model has no such targets
  }
}

bool AdapterReceiver::find_base(const Announcement& coming) {
  base_ = Base::find(id_in(coming));
  return base_ != nullptr;
}

/// Returns the number of a damaged bucket, or -1.
int AdapterReceiver::receive_base(dist::Communicator& group, const Announcement& coming) {
  const std::shared_ptr<Base> known = std::exchange(base_, nullptr);  // then only another rank needs it
  std::vector<uint8_t> unread(known ? size_t(coming.bucket_bytes) : 0);
  const auto base = known ? known : std::make_shared<Base>(Base{model::Parameters(model_, stream_), {}});
  if (!known) base->parameters.store_as(DType(coming.base_type));
  std::vector<uint32_t> sums;
  int damaged = -1;
  each_bucket({bytes_of(base->parameters)}, coming.bucket_bytes, [&](const TensorView& bucket, int number) {
    const TensorView to = known ? u8(unread.data(), {bucket.numel()}) : bucket;
    uint32_t sum = 0;
    exchange(group, to, sum);
    sums.push_back(sum);
    if (damaged < 0 && !known && sum != checksum(to)) damaged = number;
  });
  base_ = base;
  if (known || damaged >= 0) return damaged;
  base->sums = {id_of(base->parameters, sums), coming.bucket_bytes, std::move(sums)};
  if (base->sums.id != id_in(coming)) return 0;  // the announced base has other checksums
  Base::add(base);
  return -1;
}

/// Makes place for adapters over the base, unless it is there.
void AdapterReceiver::prepare(const Announcement& coming) {
  const model::AdapterConfig wanted = adapters_of(coming);
  if (forming_ && forming_->base == base_) {
    const model::AdapterConfig& own = forming_->adapters.config();
    if (own.rank == wanted.rank && own.alpha == wanted.alpha && own.targets == wanted.targets) return;
  }
  forming_.reset();
  forming_ = std::make_unique<Forming>(stream_, base_, wanted, storage_, arithmetic_);
}

void AdapterReceiver::receive(dist::Communicator& group, const Announcement& coming, bool base_comes) {
  const int of_base = base_comes ? receive_base(group, coming) : -1;
  prepare(coming);
  int damaged = -1;
  checksums_.clear();
  each_bucket({bytes_of(forming_->adapters.block())}, coming.bucket_bytes, [&](const TensorView& bucket, int number) {
    uint32_t sum = 0;
    exchange(group, bucket, sum);
    checksums_.push_back(sum);
    if (damaged < 0 && sum != checksum(bucket)) damaged = number;
  });
  answers(group, damaged < 0 && of_base < 0 ? kAccepted : kDamaged);
  if (of_base >= 0) fail(Code::kFormat, "receive: bucket %d of the adapters' base arrived damaged: its checksum is another.", of_base);
  if (damaged >= 0) fail(Code::kFormat, "receive: bucket %d of the adapters arrived damaged: its checksum is another.", damaged);
  forming_->weights.set_version(coming.version);
  forming_->weights.advance(nullptr, 0);  // A and B have changed
  forming_->weights.snapshot();
}

std::vector<int> AdapterReceiver::send(dist::Communicator& group) const {
  const Base& base = *forming_->base;
  return send_announced(group, {base.parameters, base.sums, forming_->adapters, forming_->weights.version(), storage_, arithmetic_}, &checksums_);
}

std::shared_ptr<const model::WeightSnapshot> AdapterReceiver::snapshot() { return forming_->weights.snapshot(); }

}  // namespace hone::trainer
