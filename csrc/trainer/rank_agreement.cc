#include "trainer/rank_agreement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "model/row_blocks.h"
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

/// Status that each rank publishes before the step continues.
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

/// `ranks` ranks, of which each team of `size` shares a micro-batch.
struct Teams {
  int size, ranks;
};

/// Memory ranges that one rank broadcasts.
using Pieces = std::vector<std::pair<void*, size_t>>;

/// Broadcasts each rank's data to all others. of(rank): the memory of that rank's data on this rank, of equal
/// size on all ranks.
void gather_pieces(dist::Communicator& ranks, const std::function<Pieces(int rank)>& of) {
  size_t width = 0;
  for (int rank = 0; rank < ranks.size(); ++rank) {
    size_t size = 0;
    for (const auto& [memory, n] : of(rank)) size += n;
    width = std::max(width, size);
  }
  std::vector<std::byte> out(width), in(width * size_t(ranks.size()));
  std::byte* at = out.data();
  for (const auto& [memory, n] : of(ranks.rank())) std::memcpy(at, memory, n), at += n;
  ranks.all_gather(Stream{}, bytes(out.data(), int64_t(width)), bytes(in.data(), int64_t(in.size())));
  ranks.wait(Stream{});
  for (int rank = 0; rank < ranks.size(); ++rank) {
    at = in.data() + size_t(rank) * width;
    for (const auto& [memory, n] : of(rank)) std::memcpy(memory, at, n), at += n;
  }
}

/// Calls each(i, first, n) for every sequence i (n tokens from `first` on) whose results come from `rank`.
/// Results of a team's micro-batches come from the team's first rank.
template <class Each>
void for_share(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Teams& teams, int rank, const Each& each) {
  if (rank % teams.size != 0) return;
  for (const MicroBatch& which : dealt(all, rank / teams.size, teams.ranks / teams.size)) {
    for (const int32_t i : which.sequences) each(size_t(i), batch.cu_seqlens[i], size_t(batch.cu_seqlens[i + 1] - batch.cu_seqlens[i]));
  }
}

/// Calls each(n) for every loss token whose row `rank` computed; n: its index among the batch's loss tokens.
template <class Each>
void for_rows(const TrainingBatch& batch, const std::vector<MicroBatch>& all, const Teams& teams, int rank, const Each& each) {
  for (const MicroBatch& which : dealt(all, rank / teams.size, teams.ranks / teams.size)) {
    std::vector<int32_t> at;
    int32_t token = 0;
    for (const int32_t i : which.sequences) {
      for (int32_t t = batch.cu_seqlens[i]; t < batch.cu_seqlens[i + 1]; ++t, ++token) {
        if (batch.mask[t]) at.push_back(token - 1);
      }
    }
    const auto blocks = model::row_blocks(token, at.data(), int64_t(at.size()), teams.size);
    for (const int32_t n : numbers_of(batch, which, blocks[size_t(rank % teams.size)].outputs)) each(size_t(n));
  }
}

/// Adds the teacher's data for the batch's loss tokens, and the options of the teacher term.
void add_teacher(Fingerprint& print, const TrainingBatch& b, const TeacherTerm& term) {
  const int64_t n = b.step.counted_tokens * b.teacher.columns;
  print.add_array(b.teacher.hidden, n).add_array(b.teacher.ids, n).add_array(b.teacher.logprobs, n);
  print.add(term.coef, term.beta, term.by_sequence, term.rest);
}

}  // namespace

std::string step_fingerprint(const TrainingBatch& b, const StepOptions& o, const TrainerConfig& c, uint32_t version,
                             int64_t optimizer_steps) {
  const int64_t S = b.sequences, T = b.cu_seqlens[S];
  const OptimizerConfig& a = c.optimizer;
  Fingerprint print;
  print.add_array(b.tokens, T).add_array(b.cu_seqlens, S + 1).add_array(b.mask, T).add_array(b.behavior_logprobs, T);
  print.add_array(b.reference_logprobs, T).add_array(b.proximal_logprobs, T).add_array(b.advantages, S).add_array(b.token_advantages, T);
  print.add_array(b.token_weights, T).add_array(b.token_penalties, T).add_array(b.routes, T * b.route_bytes);
  print.add_array(b.group_sizes, S).add(b.step.sequences, b.step.groups, b.step.counted_tokens, b.step.dr_grpo);
  print.add(int(o.objective), int(o.sequence_weight), o.clip_low, o.clip_high, o.dual_clip, o.off_policy_mask, o.gate_positive, o.gate_negative, o.kl_coef, o.entropy_coef, o.temperature);
  print.add(o.lr, o.muon_lr, int(o.correction), o.correction_low, o.correction_high, bool(o.slopes), o.keeps_version, int(o.kl_estimator));
  print.add(c.packed_tokens, int(c.weight_storage), int(c.arithmetic), int(c.sharding.stage), c.sharding.exact, c.sharding.sequence, version, optimizer_steps);
  add_teacher(print, b, o.divergence);
  print.add(o.router.balance_coef, o.router.z_coef);
  print.add(a.beta1, a.beta2, a.eps, a.weight_decay, a.decay_all, a.gradient_clip, int(a.moments), a.seed);
  return print.hex();
}

std::string score_fingerprint(const TrainingBatch& b, float temperature, const TokenScores& scores, const TrainerConfig& c) {
  const int64_t S = b.sequences, T = b.cu_seqlens[S];
  Fingerprint print;
  print.add_array(b.cu_seqlens, S + 1).add_array(b.tokens, T).add_array(b.mask, T).add_array(b.routes, T * b.route_bytes);
  print.add(temperature, bool(scores.hidden), scores.k, c.packed_tokens, int(c.weight_storage), int(c.arithmetic), int(c.sharding.stage), c.sharding.sequence);
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
  std::vector<std::array<double, 2>> times(size_t(ranks.size()), {report.forward_seconds, report.backward_seconds});
  gather_pieces(ranks, [&](int rank) {
    Pieces pieces{{&times[size_t(rank)], sizeof(times[0])}};
    for_share(batch, all, {team, ranks.size()}, rank, [&](size_t i, int32_t first, size_t n) {
      pieces.insert(pieces.end(), {{&losses.loss[i], sizeof(double)}, {&losses.policy[i], sizeof(double)}, {&losses.router[i], sizeof(double)}});
      for (std::vector<float>* array : {&report.logprobs, &report.entropies, &report.ratios, &report.weights, &report.divergences}) {
        if (!array->empty()) pieces.emplace_back(array->data() + first, n * sizeof(float));
      }
      pieces.emplace_back(report.clipped.data() + first, n);
    });
    return pieces;
  });
  for (const auto& [forward, backward] : times) {
    report.forward_seconds = std::max(report.forward_seconds, forward);
    report.backward_seconds = std::max(report.backward_seconds, backward);
  }
  losses.first_bad = -1;
  for (int64_t i = batch.sequences - 1; i >= 0; --i) {
    if (!std::isfinite(losses.loss[size_t(i)]) || !std::isfinite(losses.policy[size_t(i)])) losses.first_bad = i;
  }
}

void gather_scores(dist::Communicator& ranks, int team, const TrainingBatch& batch, const std::vector<MicroBatch>& all,
                   const TokenScores& scores) {
  gather_pieces(ranks, [&](int rank) {
    Pieces pieces;
    for_share(batch, all, {team, ranks.size()}, rank, [&](size_t, int32_t first, size_t n) {
      for (float* array : {scores.logprobs, scores.entropies}) {
        if (array) pieces.emplace_back(array + first, n * sizeof(float));
      }
    });
    if (!scores.teaches()) return pieces;
    const auto C = size_t(scores.width), k = size_t(scores.k);
    for_rows(batch, all, {team, ranks.size()}, rank, [&](size_t n) {
      if (scores.hidden) pieces.emplace_back(scores.hidden + n * C, C * sizeof(float));
      if (k > 0) pieces.insert(pieces.end(), {{scores.ids + n * k, k * sizeof(int32_t)}, {scores.top_logprobs + n * k, k * sizeof(float)}});
    });
    return pieces;
  });
}

}  // namespace hone::trainer
