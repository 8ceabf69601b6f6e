#include "kernels/cpu/lm_head.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "kernels/cpu/divergence.h"
#include "kernels/cpu/lm_head_block.h"

namespace hone::kernels::cpu {
namespace {

// Logits of a chunk stay in the L2 cache; a chunk has enough rows for the matrix product to run at full
// speed.
constexpr int64_t kLogitFloats = 128 * 1024;
constexpr int64_t kChunkRows = 64;
// With a large vocabulary neither logits nor weights stay in a cache: every chunk reads W and W^T from
// memory, and reads and writes dW. A training chunk then has as many rows as one pass of a product over its
// weights processes.
constexpr int64_t kLargeVocabulary = 16 * 1024;
constexpr int64_t kLargeRows = 168;

/// Rows of a chunk in sampling.
int64_t chunk_rows(int64_t rows, int64_t vocabulary) {
  const int64_t fitting = kLogitFloats / std::max<int64_t>(1, vocabulary) / kChunkRows * kChunkRows;
  return std::min(rows, std::max(kChunkRows, fitting));
}

/// Limit of the rows of a chunk in training.
int64_t most_training_rows(int64_t rows, int64_t vocabulary) {
  return vocabulary < kLargeVocabulary ? chunk_rows(rows, vocabulary) : std::min(rows, kLargeRows);
}

/// Rows of a chunk in training. For a large vocabulary chunks have nearly equal sizes.
int64_t training_rows(int64_t rows, int64_t vocabulary) {
  if (rows == 0 || vocabulary < kLargeVocabulary) return chunk_rows(rows, vocabulary);
  const int64_t chunks = (rows + kLargeRows - 1) / kLargeRows;
  return (rows + chunks - 1) / chunks;
}

/// Rows that a thread processes at a time: about 10 us at two logits per nanosecond.
int64_t logit_grain(int64_t vocabulary) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, vocabulary)); }

/// Scratch from the caller's arena, or from its own; releases everything at the end of the scope.
class Scratch {
 public:
  Scratch(Arena* given, int64_t rows, int64_t vocabulary)
      : own_(given ? 0 : lm_head_scratch_bytes(rows, vocabulary), "lm_head"), arena_(given ? given : &own_),
        mark_(arena_->mark()) {}
  ~Scratch() { arena_->release(mark_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  template <class T>
  T* take(int64_t n) { return arena_->take_array<T>(n); }

 private:
  Arena own_;
  Arena* arena_;
  int64_t mark_;
};

TensorView rows_of(const TensorView& x, int64_t first, int64_t count) {
  TensorView part = x;
  part.data = x.row<float>(first);
  part.shape[0] = count;
  return part;
}

/// Computes z = h W^T for rows [first, first + count).
TensorView logits_of(const Stream& stream, const TensorView& h, const PackedMatrix& w, int64_t first, int64_t count,
                     float* z) {
  const TensorView out = f32(z, {count, w.n});
  linear(stream, {rows_of(h, first, count), w, {}, out, false});
  return out;
}

/// Calls f(row of the chunk) for a chunk's rows in parallel.
template <class F>
void each_row(const Stream& stream, int64_t count, int64_t vocabulary, F f) {
  stream.parallel_for(count, logit_grain(vocabulary), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r);
  });
}

float inverse_of(float temperature) { return 1.0f / temperature; }

/// Log-prob of one logit; statistics and sampling both call this function, so that they agree to the bit.
float logprob_of(const RowStatistics& s, float z, float inverse_temperature) {
  return float(double(z * inverse_temperature - s.maximum) - std::log(s.total));
}
float entropy_of(const RowStatistics& s) { return float(std::log(s.total) - s.weighted / s.total); }
float lse_of(const RowStatistics& s) { return float(double(s.maximum) + std::log(s.total)); }

// ---- truncation ----------------------------------------------------------------------------------------

bool truncates(const SamplingParams& p, int64_t vocabulary) {
  return (p.top_k > 0 && p.top_k < p.drawn_of(vocabulary)) || p.top_p < 1.0f || p.min_p > 0.0f;
}

/// A row with finite statistics, its statistics and its sampling parameters.
struct TruncatedRow {
  float* z;
  int64_t n;
  const SamplingParams& params;
  float inverse_temperature;
  const RowStatistics& sums;

  double weight(int32_t id) const { return std::exp(double(z[id] * inverse_temperature - sums.maximum)); }
};

/// Order of ids by likelihood: if logits are equal, the smaller id counts as likelier.
struct Below {
  const float* z;
  bool operator()(int32_t a, int32_t b) const { return z[a] < z[b] || (z[a] == z[b] && a > b); }
};

/// The ids of a row whose log-probs are at most `depth` below the greatest, in order of likelihood: a heap
/// with the likeliest on top, from which only the requested ids are popped.
class Likeliest {
 public:
  /// ids: scratch with one entry per logit of the row.
  Likeliest(const TruncatedRow& row, double depth, int32_t* ids) : below_{row.z}, ids_(ids) {
    const double least = row.sums.maximum - depth;
    for (int64_t v = 0; v < row.n; ++v) {
      ids[count_] = int32_t(v);
      count_ += double(row.z[v] * row.inverse_temperature) >= least;
    }
    left_ = count_;
    std::make_heap(ids_, ids_ + left_, below_);
  }
  int64_t count() const { return count_; }
  /// The i-th likeliest id; i counts from 0.
  int32_t at(int64_t i) {
    while (left_ > count_ - 1 - i) std::pop_heap(ids_, ids_ + left_--, below_);
    return ids_[count_ - 1 - i];
  }

 private:
  Below below_;
  int32_t* ids_;
  // ids_[left_..count_) were popped; the last popped id is at the lowest index
  int64_t count_ = 0, left_ = 0;
};

/// Number of ids that the truncation keeps; 0 if the collected ids are too few to tell.
int64_t kept_of(const TruncatedRow& row, Likeliest& likeliest) {
  const SamplingParams& p = row.params;
  const int64_t most = p.top_k > 0 ? std::min<int64_t>(p.top_k, row.n) : row.n, at_hand = likeliest.count();
  if (most < row.n && most > at_hand) return 0;
  double total = most < row.n ? 0 : row.sums.total;
  if (most < row.n)
    for (int64_t i = 0; i < most; ++i) total += row.weight(likeliest.at(i));
  double mass = 0;
  for (int64_t kept = 0; kept < std::min(most, at_hand); ++kept) {
    if (p.top_p < 1.0f && mass >= double(p.top_p) * total) return kept;
    const double w = row.weight(likeliest.at(kept));
    if (kept > 0 && w < double(p.min_p)) return kept;
    mass += w;
  }
  return most <= at_hand ? most : 0;
}

/// Sets logits outside the kept set to -inf. ids: scratch with one entry per logit of the row.
void truncate_row(const TruncatedRow& row, int32_t* ids) {
  // The kept ids are the likeliest ones; in a trained model's rows they end far above the unlikely ids, so
  // few ids suffice.
  for (const double depth : {16.0, 64.0, double(INFINITY)}) {
    Likeliest likeliest(row, depth, ids);
    const int64_t kept = kept_of(row, likeliest);
    if (kept == 0) continue;
    const int32_t last = likeliest.at(kept - 1);
    const Below below{row.z};
    for (int64_t v = 0; v < row.n; ++v)
      if (below(int32_t(v), last)) row.z[v] = -INFINITY;
    return;
  }
}

NoiseKey noise_key(const SampleKey& key) {
  return {key.position, key.attempt, key.problem, uint32_t(key.run_seed), uint32_t(key.run_seed >> 32)};
}

struct Draw {
  int64_t token;
  float logprob, entropy;
};

/// Samples one token from a row of logits, which are overwritten if the row is truncated. ids: null if it is
/// not.
Draw sample_row(float* z, int64_t n, const SamplingParams& params, const SampleKey& key, int32_t* ids) {
  const bool greedy = params.temperature == 0.0f;
  const float inverse = greedy ? 1.0f : inverse_of(params.temperature);
  RowStatistics s;
  HONE_PICK(row_statistics)(z, n, inverse, &s);
  // A row with non-finite logits is not truncated: its log-prob must show that it is non-finite.
  const int64_t drawn = params.drawn_of(n);
  if (!greedy && ids && std::isfinite(s.total)) {
    RowStatistics sums = s;
    if (drawn < n) HONE_PICK(row_statistics)(z, drawn, inverse, &sums);
    truncate_row({z, drawn, params, inverse, sums}, ids);
  }
  const int64_t token =
      greedy ? HONE_PICK(argmax_row)(z, drawn) : HONE_PICK(noisy_argmax_row)(z, drawn, inverse, noise_key(key));
  return {token, logprob_of(s, z[token], inverse), entropy_of(s)};
}

/// Writes the k likeliest tokens of a row. row: logits after the soft cap; ids: scratch with one entry per
/// logit.
void top_of_row(const float* row, const RowStatistics& s, float inverse, const LmHeadTopArgs& a, int64_t r, int32_t* ids) {
  const int64_t k = a.ids.dim(1);
  std::iota(ids, ids + a.w.n, 0);
  const Below below{row};
  std::partial_sort(ids, ids + k, ids + a.w.n, [&](int32_t x, int32_t y) { return below(y, x); });
  for (int64_t i = 0; i < k; ++i) {
    a.ids.as<int32_t>()[r * k + i] = ids[i];
    a.logprobs.as<float>()[r * k + i] = logprob_of(s, row[ids[i]], inverse);
  }
}

}  // namespace

int64_t divergence_scratch_bytes(int64_t rows, int64_t vocabulary, const Divergence& divergence) {
  return teacher_rows_bytes(most_training_rows(rows, vocabulary), vocabulary, divergence);
}

int64_t lm_head_scratch_bytes(int64_t rows, int64_t vocabulary) {
  const int64_t sampled = chunk_rows(rows, vocabulary) * vocabulary, trained = most_training_rows(rows, vocabulary) * vocabulary;
  const int64_t sampling = Arena::rounded(sampled * int64_t(sizeof(float))) + Arena::rounded(sampled * int64_t(sizeof(int32_t)));
  return std::max(sampling, Arena::rounded(trained * int64_t(sizeof(float))));
}

void lm_head(const Stream& stream, const LmHeadArgs& a) {
  const int64_t rows = a.h.dim(0), vocabulary = a.w.n, chunk = training_rows(rows, vocabulary);
  const float inverse = inverse_of(a.temperature);
  const auto statistics = HONE_PICK(row_statistics);
  const auto gradient = HONE_PICK(head_grad_row);
  const auto cap = HONE_PICK(cap_row);
  Scratch scratch(a.scratch, rows, vocabulary);
  float* z = scratch.take<float>(chunk * vocabulary);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    const TensorView dz = logits_of(stream, a.h, a.w, first, count, z);
    each_row(stream, count, vocabulary, [&](int64_t r) {
      RowStatistics s;
      float* row = z + r * vocabulary;
      const int32_t target = a.targets.as<int32_t>()[first + r];
      cap(row, vocabulary, a.softcap);
      statistics(row, vocabulary, inverse, &s);
      a.logprobs.as<float>()[first + r] = logprob_of(s, row[target], inverse);
      a.entropies.as<float>()[first + r] = entropy_of(s);
      a.lse.as<float>()[first + r] = lse_of(s);
      if (!a.dh.empty()) gradient({row, vocabulary, inverse, lse_of(s), entropy_of(s), 1.0f, 0.0f, target, a.softcap});
    });
    if (!a.dh.empty()) linear(stream, {dz, a.w_t, {}, rows_of(a.dh, first, count), false});
  }
}

void lm_head_grad(const Stream& stream, const LmHeadGradArgs& a) {
  const int64_t rows = a.h.dim(0), vocabulary = a.w.n, chunk = training_rows(rows, vocabulary);
  const float inverse = inverse_of(a.temperature);
  const auto gradient = HONE_PICK(head_grad_row);
  const auto cap = HONE_PICK(cap_row);
  Scratch scratch(a.scratch, rows, vocabulary);
  float* z = scratch.take<float>(chunk * vocabulary);
  std::optional<TeacherRows> teacher;
  if (a.teacher) teacher.emplace(a, chunk);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    if (teacher) teacher->begin(stream, first, count);
    const TensorView dz = logits_of(stream, a.h, a.w, first, count, z);
    each_row(stream, count, vocabulary, [&](int64_t r) {
      const int64_t i = first + r;
      cap(z + r * vocabulary, vocabulary, a.softcap);
      if (teacher) teacher->measure(r, z + r * vocabulary);
      gradient({z + r * vocabulary, vocabulary, inverse, a.lse.as<float>()[i], a.entropies.as<float>()[i],
                a.a.as<float>()[i], a.b.empty() ? 0.0f : a.b.as<float>()[i], a.targets.as<int32_t>()[i], a.softcap});
      if (teacher) teacher->add(r, z + r * vocabulary);
    });
    linear(stream, {dz, a.w_t, {}, rows_of(a.dh, first, count), false});
    if (!a.dw.empty()) linear_grad_weight(stream, {dz, rows_of(a.h, first, count), a.dw, {}});
  }
}

void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& a) {
  const int64_t rows = a.h.dim(0), vocabulary = a.w.n, chunk = chunk_rows(rows, vocabulary);
  Scratch scratch(a.scratch, rows, vocabulary);
  float* z = scratch.take<float>(chunk * vocabulary);
  int32_t* ids = scratch.take<int32_t>(chunk * vocabulary);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    logits_of(stream, a.h, a.w, first, count, z);
    each_row(stream, count, vocabulary, [&](int64_t r) {
      const int64_t i = first + r;
      HONE_PICK(cap_row)(z + r * vocabulary, vocabulary, a.softcap);
      const Draw draw = sample_row(z + r * vocabulary, vocabulary, a.params[i], a.keys[i],
                                   truncates(a.params[i], vocabulary) ? ids + r * vocabulary : nullptr);
      a.tokens.as<int32_t>()[i] = int32_t(draw.token);
      a.logprobs.as<float>()[i] = draw.logprob;
      a.entropies.as<float>()[i] = draw.entropy;
    });
  }
}

void lm_head_top(const Stream& stream, const LmHeadTopArgs& a) {
  const int64_t rows = a.h.dim(0), vocabulary = a.w.n, chunk = chunk_rows(rows, vocabulary);
  const float inverse = inverse_of(a.temperature);
  Scratch scratch(a.scratch, rows, vocabulary);
  float* z = scratch.take<float>(chunk * vocabulary);
  int32_t* ids = scratch.take<int32_t>(chunk * vocabulary);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    logits_of(stream, a.h, a.w, first, count, z);
    each_row(stream, count, vocabulary, [&](int64_t r) {
      RowStatistics s;
      float* row = z + r * vocabulary;
      HONE_PICK(cap_row)(row, vocabulary, a.softcap);
      HONE_PICK(row_statistics)(row, vocabulary, inverse, &s);
      top_of_row(row, s, inverse, a, first + r, ids + r * vocabulary);
    });
  }
}

}  // namespace hone::kernels::cpu
