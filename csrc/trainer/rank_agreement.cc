#include "trainer/rank_agreement.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "model/sha256.h"

namespace hone::trainer {
namespace {

TensorView bytes(void* data, int64_t n) { return {data, DType::kU8, {n}}; }

class Fingerprint {
 public:
  template <class... T>
  Fingerprint& add(T... values) {
    static_assert((std::is_arithmetic_v<T> && ...), "padding of a struct would be hashed");
    (hash_.update(&values, sizeof(values)), ...);
    return *this;
  }
  template <class T>
  Fingerprint& add_array(const T* values, int64_t n) {
    add(int64_t(values ? n : -1));
    if (values) hash_.update(values, size_t(n) * sizeof(T));
    return *this;
  }
  std::string hex() { return hash_.hex(); }

 private:
  model::Sha256 hash_;
};

/// What a rank says before a step goes on.
struct Ballot {
  char fingerprint[64] = {};
  uint8_t failed = 0;
  char message[447] = {};
};

std::string message_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "unknown";
  }
}

std::vector<Ballot> vote(dist::Communicator& ranks, Ballot own) {
  std::vector<Ballot> all(size_t(ranks.size()));
  ranks.all_gather(Stream{}, bytes(&own, sizeof(own)), bytes(all.data(), int64_t(all.size() * sizeof(own))));
  ranks.wait(Stream{});
  return all;
}

/// Calls each(memory, bytes) for all that belongs to the sequences of a share.
template <class Each>
void for_share(const TrainingBatch& batch, const std::vector<MicroBatch>& share, StepLosses& losses, StepReport& report,
               const Each& each) {
  for (const MicroBatch& which : share) {
    for (const int32_t i : which.sequences) {
      const int32_t begin = batch.cu_seqlens[i], n = batch.cu_seqlens[i + 1] - begin;
      each(&losses.loss[size_t(i)], sizeof(double));
      each(&losses.policy[size_t(i)], sizeof(double));
      for (std::vector<float>* array : {&report.logprobs, &report.entropies, &report.ratios, &report.weights}) {
        if (!array->empty()) each(array->data() + begin, size_t(n) * sizeof(float));
      }
      each(report.clipped.data() + begin, size_t(n));
    }
  }
}

void take_times(const double (&times)[2], StepReport& report) {
  report.forward_seconds = std::max(report.forward_seconds, times[0]);
  report.backward_seconds = std::max(report.backward_seconds, times[1]);
}

}  // namespace

std::string step_fingerprint(const TrainingBatch& b, const StepOptions& o, const TrainerConfig& c, uint32_t version,
                             int64_t optimizer_steps) {
  const int64_t S = b.sequences, T = b.cu_seqlens[S];
  const OptimizerConfig& a = c.optimizer;
  Fingerprint print;
  print.add_array(b.tokens, T).add_array(b.cu_seqlens, S + 1).add_array(b.mask, T).add_array(b.behavior_logprobs, T);
  print.add_array(b.reference_logprobs, T).add_array(b.advantages, S).add_array(b.token_advantages, T);
  print.add_array(b.group_sizes, S).add(b.step.sequences, b.step.groups, b.step.counted_tokens, b.step.dr_grpo);
  print.add(int(o.objective), int(o.sequence_weight), o.clip_low, o.clip_high, o.kl_coef, o.entropy_coef, o.temperature);
  print.add(o.lr, o.muon_lr, int(o.correction), o.correction_low, o.correction_high, bool(o.slopes));
  print.add(c.packed_tokens, int(c.weight_storage), int(c.sharding.stage), c.sharding.exact, c.sharding.sequence, version, optimizer_steps);
  print.add(a.beta1, a.beta2, a.eps, a.weight_decay, a.decay_all, a.gradient_clip, int(a.moments), a.seed);
  return print.hex();
}

std::exception_ptr kept_failure(const std::function<void()>& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() == Code::kCollective) throw;
    return std::current_exception();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

void agree(dist::Communicator& ranks, const char* what, const std::exception_ptr& failure, const std::string& fingerprint) {
  Ballot own;
  std::memcpy(own.fingerprint, fingerprint.data(), std::min(fingerprint.size(), sizeof(own.fingerprint)));
  if (failure) {
    const std::string message = message_of(failure);
    own.failed = 1;
    std::memcpy(own.message, message.data(), std::min(message.size(), sizeof(own.message) - 1));
  }
  const std::vector<Ballot> all = vote(ranks, own);
  if (failure) std::rethrow_exception(failure);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    if (all[rank].failed) fail(Code::kCollective, "%s: rank %zu failed, so that no rank went on: %s", what, rank, all[rank].message);
  }
  for (size_t rank = 1; rank < all.size(); ++rank) {
    if (std::memcmp(all[rank].fingerprint, all[0].fingerprint, sizeof(own.fingerprint)) == 0) continue;
    fail(Code::kState, "%s: rank %zu was given another batch, options, config or weight version than rank 0. All ranks must be given the same.",
         what, rank);
  }
}

void by_first(dist::Communicator& ranks, const char* what, const std::function<void()>& work) {
  agree(ranks, what, kept_failure([&] { ranks.rank() == 0 ? work() : void(); }));
}

int64_t first_of_ranks(dist::Communicator& ranks, int64_t own) {
  std::vector<int64_t> all(size_t(ranks.size()));
  ranks.all_gather(Stream{}, {&own, DType::kI64, {1}}, {all.data(), DType::kI64, {int64_t(all.size())}});
  ranks.wait(Stream{});
  int64_t first = -1;
  for (const int64_t number : all) {
    if (number >= 0 && (first < 0 || number < first)) first = number;
  }
  return first;
}

std::vector<MicroBatch> dealt(const std::vector<MicroBatch>& all, int rank, int ranks) {
  std::vector<MicroBatch> share;
  for (size_t i = size_t(rank); i < all.size(); i += size_t(ranks)) share.push_back(all[i]);
  return share;
}

void gather_report(dist::Communicator& ranks, int team, const TrainingBatch& batch, const std::vector<MicroBatch>& all,
                   StepLosses& losses, StepReport& report) {
  double times[2] = {report.forward_seconds, report.backward_seconds};
  const auto share_of = [&](int rank) {
    return rank % team == 0 ? dealt(all, rank / team, ranks.size() / team) : std::vector<MicroBatch>{};
  };
  size_t width = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    size_t size = sizeof(times);
    for_share(batch, share_of(rank), losses, report, [&](void*, size_t n) { size += n; });
    width = std::max(width, size);
  }
  std::vector<std::byte> out(width), in(width * size_t(ranks.size()));
  std::byte* at = out.data();
  const auto pack = [&](void* from, size_t n) { std::memcpy(at, from, n), at += n; };
  pack(times, sizeof(times));
  for_share(batch, share_of(ranks.rank()), losses, report, pack);
  ranks.all_gather(Stream{}, bytes(out.data(), int64_t(width)), bytes(in.data(), int64_t(in.size())));
  ranks.wait(Stream{});
  for (int rank = 0; rank < ranks.size(); ++rank) {
    at = in.data() + size_t(rank) * width;
    const auto unpack = [&](void* to, size_t n) { std::memcpy(to, at, n), at += n; };
    unpack(times, sizeof(times));
    take_times(times, report);
    for_share(batch, share_of(rank), losses, report, unpack);
  }
  losses.first_bad = -1;
  for (int64_t i = batch.sequences - 1; i >= 0; --i) {
    if (!std::isfinite(losses.loss[size_t(i)]) || !std::isfinite(losses.policy[size_t(i)])) losses.first_bad = i;
  }
}

}  // namespace hone::trainer
