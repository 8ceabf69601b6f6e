#include "kernels/cpu/lm_head.h"

#include <algorithm>
#include <cmath>

#include "kernels/cpu/lm_head_block.h"

namespace hone::kernels::cpu {
namespace {

// Logits of a chunk stay in L2; a chunk has enough rows for the GEMM to run at full speed.
constexpr int64_t kLogitFloats = 128 * 1024;
constexpr int64_t kChunkRows = 64;

int64_t chunk_rows(int64_t rows, int64_t vocabulary) {
  const int64_t fitting = kLogitFloats / std::max<int64_t>(1, vocabulary) / kChunkRows * kChunkRows;
  return std::min(rows, std::max(kChunkRows, fitting));
}

/// Rows per parallel chunk: about 10 us at two logits a nanosecond.
int64_t logit_grain(int64_t vocabulary) { return std::max<int64_t>(1, 16384 / std::max<int64_t>(1, vocabulary)); }

/// The caller's arena, or one of our own; releases everything at the end of the scope.
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

/// z = h W^T for rows [first, first + count).
TensorView logits_of(const Stream& stream, const TensorView& h, const PackedMatrix& w, int64_t first, int64_t count,
                     float* z) {
  const TensorView out = f32(z, {count, w.n});
  linear(stream, {rows_of(h, first, count), w, {}, out, false});
  return out;
}

/// f(row of the chunk) over a chunk's rows in parallel.
template <class F>
void each_row(const Stream& stream, int64_t count, int64_t vocabulary, F f) {
  stream.parallel_for(count, logit_grain(vocabulary), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) f(r);
  });
}

float inverse_of(float temperature) { return 1.0f / temperature; }

/// log p of one logit; both ops call this function, so that they agree to the bit.
float logprob_of(const RowStatistics& s, float z, float inverse_temperature) {
  return float(double(z * inverse_temperature - s.maximum) - std::log(s.total));
}
float entropy_of(const RowStatistics& s) { return float(std::log(s.total) - s.weighted / s.total); }
float lse_of(const RowStatistics& s) { return float(double(s.maximum) + std::log(s.total)); }

// ---- truncation ----------------------------------------------------------------------------------------

bool truncates(const SamplingParams& p, int64_t vocabulary) {
  return (p.top_k > 0 && p.top_k < vocabulary) || p.top_p < 1.0f || p.min_p > 0.0f;
}

/// Sets logits outside the kept set to -inf. ids is scratch for n; s is of the whole row and finite.
void truncate_row(float* z, int64_t n, const SamplingParams& p, float inverse_temperature, const RowStatistics& s,
                  int32_t* ids) {
  for (int64_t v = 0; v < n; ++v) ids[v] = int32_t(v);
  // A heap of ids with the likeliest on top: only the kept ones are ever sorted.
  const auto below = [z](int32_t a, int32_t b) { return z[a] < z[b] || (z[a] == z[b] && a > b); };
  std::make_heap(ids, ids + n, below);
  const auto weight = [&](int32_t id) { return std::exp(double(z[id] * inverse_temperature - s.maximum)); };
  const int64_t most = p.top_k > 0 ? std::min<int64_t>(p.top_k, n) : n;
  double total = s.total;
  int64_t left = n;  // ids[left..n) are popped: the last popped lies lowest
  if (most < n) {
    total = 0;
    while (left > n - most) {
      std::pop_heap(ids, ids + left--, below);
      total += weight(ids[left]);
    }
  }
  double mass = 0;
  int64_t kept = 0;
  for (; kept < most; ++kept) {
    if (p.top_p < 1.0f && mass >= double(p.top_p) * total) break;
    if (left == n - kept) std::pop_heap(ids, ids + left--, below);
    const double w = weight(ids[n - 1 - kept]);
    if (kept > 0 && w < double(p.min_p)) break;
    mass += w;
  }
  for (int64_t i = 0; i < n - kept; ++i) z[ids[i]] = -INFINITY;
}

NoiseKey noise_key(const SampleKey& key) {
  return {key.position, key.attempt, key.problem, uint32_t(key.run_seed), uint32_t(key.run_seed >> 32)};
}

struct Draw {
  int64_t token;
  float logprob, entropy;
};

/// One token from one row of logits, which are overwritten if the row is truncated. ids: null if it is not.
Draw sample_row(float* z, int64_t n, const SamplingParams& params, const SampleKey& key, int32_t* ids) {
  const bool greedy = params.temperature == 0.0f;
  const float inverse = greedy ? 1.0f : inverse_of(params.temperature);
  RowStatistics s;
  HONE_PICK(row_statistics)(z, n, inverse, &s);
  // A row that is not finite is not truncated: its log-prob must show that.
  if (!greedy && ids && std::isfinite(s.total)) truncate_row(z, n, params, inverse, s, ids);
  const int64_t token =
      greedy ? HONE_PICK(argmax_row)(z, n) : HONE_PICK(noisy_argmax_row)(z, n, inverse, noise_key(key));
  return {token, logprob_of(s, z[token], inverse), entropy_of(s)};
}

}  // namespace

int64_t lm_head_scratch_bytes(int64_t rows, int64_t vocabulary) {
  const int64_t floats = chunk_rows(rows, vocabulary) * vocabulary;
  return Arena::rounded(floats * int64_t(sizeof(float))) + Arena::rounded(floats * int64_t(sizeof(int32_t)));
}

void lm_head(const Stream& stream, const LmHeadArgs& a) {
  const int64_t rows = a.h.dim(0), vocabulary = a.w.n, chunk = chunk_rows(rows, vocabulary);
  const float inverse = inverse_of(a.temperature);
  const auto statistics = HONE_PICK(row_statistics);
  const auto cap = HONE_PICK(cap_row);
  Scratch scratch(a.scratch, rows, vocabulary);
  float* z = scratch.take<float>(chunk * vocabulary);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    logits_of(stream, a.h, a.w, first, count, z);
    each_row(stream, count, vocabulary, [&](int64_t r) {
      RowStatistics s;
      float* row = z + r * vocabulary;
      cap(row, vocabulary, a.softcap);
      statistics(row, vocabulary, inverse, &s);
      a.logprobs.as<float>()[first + r] = logprob_of(s, row[a.targets.as<int32_t>()[first + r]], inverse);
      a.entropies.as<float>()[first + r] = entropy_of(s);
      a.lse.as<float>()[first + r] = lse_of(s);
    });
  }
}

void lm_head_grad(const Stream& stream, const LmHeadGradArgs& a) {
  const int64_t rows = a.h.dim(0), vocabulary = a.w.n, chunk = chunk_rows(rows, vocabulary);
  const float inverse = inverse_of(a.temperature);
  const auto gradient = HONE_PICK(head_grad_row);
  const auto cap = HONE_PICK(cap_row);
  Scratch scratch(a.scratch, rows, vocabulary);
  float* z = scratch.take<float>(chunk * vocabulary);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    const TensorView dz = logits_of(stream, a.h, a.w, first, count, z);
    each_row(stream, count, vocabulary, [&](int64_t r) {
      const int64_t i = first + r;
      cap(z + r * vocabulary, vocabulary, a.softcap);
      gradient({z + r * vocabulary, vocabulary, inverse, a.lse.as<float>()[i], a.entropies.as<float>()[i],
                a.a.as<float>()[i], a.b.empty() ? 0.0f : a.b.as<float>()[i], a.targets.as<int32_t>()[i], a.softcap});
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

}  // namespace hone::kernels::cpu
