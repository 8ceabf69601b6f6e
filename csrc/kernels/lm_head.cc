#include "kernels/lm_head.h"

#include <algorithm>

#include "kernels/cpu/lm_head.h"
#include "kernels/cuda/lm_head.h"

namespace hone::kernels {
namespace {

void expect_head(const Stream& stream, const TensorView& h, const PackedMatrix& w, const char* op) {
  expect(h, activation_dtype(stream), {h.dim(0), w.k}, op, "h");
  if (w.n < 1) fail(Code::kShape, "%s: w has no rows; the vocabulary must not be empty.", op);
  // GPU kernels copy rows 16 bytes at a time.
  if (stream.is_cuda() && (w.k % 8 != 0 || h.row_stride % 8 != 0)) {
    fail(Code::kShape, "%s: width %lld, rows of h %lld apart; CUDA needs multiples of 8.", op, (long long)w.k,
         (long long)h.row_stride);
  }
}

void expect_transpose(const PackedMatrix& w, const PackedMatrix& w_t, const char* op) {
  if (w_t.n == w.k && w_t.k == w.n) return;
  fail(Code::kShape, "%s: w_t is [%lld, %lld], expected the transpose [%lld, %lld].", op, (long long)w_t.n,
       (long long)w_t.k, (long long)w.k, (long long)w.n);
}

void expect_targets(const Stream& stream, const TensorView& targets, int64_t rows, int64_t vocabulary, const char* op) {
  expect_contiguous(targets, DType::kI32, {rows}, op, "targets");
  if (stream.is_cuda()) return;
  const int32_t* id = targets.as<int32_t>();
  for (int64_t r = 0; r < rows; ++r) {
    if (id[r] < 0 || id[r] >= vocabulary) {
      fail(Code::kShape, "%s: targets[%lld] is %d, outside the vocabulary [0, %lld).", op, (long long)r, id[r],
           (long long)vocabulary);
    }
  }
}

void expect_temperature(float temperature, const char* op) {
  if (!(temperature > 0.0f)) {
    fail(Code::kConfig, "%s: temperature is %g; it must be above 0.", op, double(temperature));
  }
}

void expect_uncapped_logits(const Stream& stream, float softcap, const char* op) {
  if (!stream.is_cuda() || softcap == 0.0f) return;
  fail(Code::kUnsupported, "%s: logits capped at %g; the CUDA kernels do not cap.", op, double(softcap));
}

/// Checks the teacher's data for a student with V tokens.
void expect_teacher(const Stream& stream, const LmHeadGradArgs& args, int64_t R, int64_t V) {
  constexpr const char* op = "lm_head_grad";
  const Divergence& t = *args.teacher;
  const int64_t k = t.k();
  if (!(t.beta >= 0.0f && t.beta <= 1.0f)) fail(Code::kConfig, "%s: beta is %g; it must be in [0, 1].", op, double(t.beta));
  if (t.rest && t.beta != 1.0f) fail(Code::kConfig, "%s: beta is %g; with the rest as one token it must be 1.", op, double(t.beta));
  if (k == 0 && t.head.n < V) fail(Code::kShape, "%s: the teacher has %lld tokens, the head %lld.", op, (long long)t.head.n, (long long)V);
  if (k == 0) expect_head(stream, t.hidden, t.head, op), expect_contiguous(t.hidden, activation_dtype(stream), {R, t.head.k}, op, "hidden");
  else expect_contiguous(t.ids, DType::kI32, {R, k}, op, "ids"), expect_contiguous(t.logprobs, DType::kF32, {R, k}, op, "logprobs");
  expect_uncapped_logits(stream, t.softcap, op);
  expect_contiguous(args.slopes, DType::kF32, {R}, op, "slopes");
  expect_contiguous(args.divergences, DType::kF32, {R}, op, "divergences");
}

void expect_params(const SamplingParams& p, int64_t row) {
  const auto bad = [row](const char* field, double value, const char* rule) {
    fail(Code::kConfig, "lm_head_sample: params[%lld].%s is %g, expected %s.", (long long)row, field, value, rule);
  };
  if (!(p.temperature >= 0.0f)) bad("temperature", double(p.temperature), "0 (greedy) or more");
  if (p.top_k < 0) bad("top_k", double(p.top_k), "0 (off) or more");
  if (!(p.top_p > 0.0f && p.top_p <= 1.0f)) bad("top_p", double(p.top_p), "a value in (0, 1]");
  if (!(p.min_p >= 0.0f && p.min_p < 1.0f)) bad("min_p", double(p.min_p), "a value in [0, 1)");
  if (p.vocabulary < 0) bad("vocabulary", double(p.vocabulary), "0 (all) or more");
}

}  // namespace

void lm_head(const Stream& stream, const LmHeadArgs& args) {
  const int64_t R = args.h.dim(0);
  expect_head(stream, args.h, args.w, "lm_head");
  expect_targets(stream, args.targets, R, args.w.n, "lm_head");
  expect_contiguous(args.logprobs, DType::kF32, {R}, "lm_head", "logprobs");
  expect_contiguous(args.entropies, DType::kF32, {R}, "lm_head", "entropies");
  expect_contiguous(args.lse, DType::kF32, {R}, "lm_head", "lse");
  expect_temperature(args.temperature, "lm_head");
  expect_uncapped_logits(stream, args.softcap, "lm_head");
  if (!args.dh.empty()) {
    if (stream.is_cuda()) fail(Code::kUnsupported, "lm_head: dh is given; on CUDA lm_head_grad computes it.");
    expect_transpose(args.w, args.w_t, "lm_head");
    expect(args.dh, DType::kF32, {R, args.w.k}, "lm_head", "dh");
  }
  if (R == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::lm_head(stream, args);
  }
  cpu::lm_head(stream, args);
}

void lm_head_grad(const Stream& stream, const LmHeadGradArgs& args) {
  constexpr const char* op = "lm_head_grad";
  const int64_t R = args.h.dim(0), C = args.w.k, V = args.w.n;
  expect_head(stream, args.h, args.w, op);
  if (!stream.is_cuda()) expect_transpose(args.w, args.w_t, op);
  expect_targets(stream, args.targets, R, V, op);
  expect_contiguous(args.lse, DType::kF32, {R}, op, "lse");
  expect_contiguous(args.entropies, DType::kF32, {R}, op, "entropies");
  expect_contiguous(args.a, DType::kF32, {R}, op, "a");
  if (!args.b.empty()) expect_contiguous(args.b, DType::kF32, {R}, op, "b");
  expect(args.dh, activation_dtype(stream), {R, C}, op, "dh");
  if (!args.dw.empty()) expect(args.dw, DType::kF32, {V, C}, op, "dw");
  expect_temperature(args.temperature, op);
  expect_uncapped_logits(stream, args.softcap, op);
  if (args.chunk < 1) fail(Code::kConfig, "%s: chunks of %lld rows.", op, (long long)args.chunk);
  if (args.teacher) expect_teacher(stream, args, R, V);
  if (R == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::lm_head_grad(stream, args);
  }
  cpu::lm_head_grad(stream, args);
}

void scale_rows(const Stream& stream, const TensorView& a, const TensorView& dh) {
  const int64_t R = dh.dim(0), C = dh.dim(1);
  if (stream.is_cuda()) fail(Code::kUnsupported, "scale_rows: there is no CUDA kernel.");
  expect_contiguous(a, DType::kF32, {R}, "scale_rows", "a");
  expect(dh, DType::kF32, {R, C}, "scale_rows", "dh");
  constexpr int64_t kGrain = 16 * 1024;  // floats: about 10 us
  stream.parallel_for(R, std::max<int64_t>(1, kGrain / std::max<int64_t>(1, C)), [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      float* const row = dh.row<float>(r);
      std::transform(row, row + C, row, [by = a.as<float>()[r]](float x) { return by * x; });
    }
  });
}

void lm_head_sample(const Stream& stream, const LmHeadSampleArgs& args) {
  const int64_t R = args.h.dim(0);
  expect_head(stream, args.h, args.w, "lm_head_sample");
  expect_contiguous(args.tokens, DType::kI32, {R}, "lm_head_sample", "tokens");
  expect_contiguous(args.logprobs, DType::kF32, {R}, "lm_head_sample", "logprobs");
  expect_contiguous(args.entropies, DType::kF32, {R}, "lm_head_sample", "entropies");
  expect_uncapped_logits(stream, args.softcap, "lm_head_sample");
  if (R == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::lm_head_sample(stream, args);
  }
  for (int64_t r = 0; r < R; ++r) expect_params(args.params[r], r);
  cpu::lm_head_sample(stream, args);
}

void lm_head_top(const Stream& stream, const LmHeadTopArgs& args) {
  constexpr const char* op = "lm_head_top";
  const int64_t R = args.h.dim(0), k = args.ids.dim(1);
  expect_head(stream, args.h, args.w, op);
  if (k < 1 || k > args.w.n) fail(Code::kConfig, "%s: %lld tokens of a vocabulary of %lld.", op, (long long)k, (long long)args.w.n);
  expect_contiguous(args.ids, DType::kI32, {R, k}, op, "ids");
  expect_contiguous(args.logprobs, DType::kF32, {R, k}, op, "logprobs");
  expect_temperature(args.temperature, op);
  expect_uncapped_logits(stream, args.softcap, op);
  if (R == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::lm_head_top(stream, args);
  }
  cpu::lm_head_top(stream, args);
}

int64_t divergence_scratch_bytes(const Stream& stream, int64_t rows, int64_t vocabulary, const Divergence& divergence) {
  if (stream.is_cuda()) return cuda::divergence_scratch_bytes(rows, vocabulary, divergence.k() == 0);
  return cpu::divergence_scratch_bytes(rows, vocabulary, divergence);
}

int64_t lm_head_scratch_bytes(const Stream& stream, int64_t rows, int64_t, int64_t vocabulary, int64_t chunk) {
  if (stream.is_cuda()) return cuda::lm_head_scratch_bytes(rows, vocabulary, chunk);
  return cpu::lm_head_scratch_bytes(rows, vocabulary);
}

}  // namespace hone::kernels
