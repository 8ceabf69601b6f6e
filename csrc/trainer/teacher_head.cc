#include "trainer/teacher_head.h"

#include <algorithm>

#include "trainer/micro_batch.h"

namespace hone::trainer {
namespace {

void check_ids(const TeacherTokens& teacher, int64_t tokens, int64_t vocabulary) {
  for (int64_t i = 0; i < tokens * teacher.columns; ++i) {
    if (teacher.ids[i] >= 0 && teacher.ids[i] < vocabulary) continue;
    fail(Code::kShape, "step: teacher_ids[%lld] is %d, outside the vocabulary [0, %lld).", (long long)i, teacher.ids[i], (long long)vocabulary);
  }
}

/// Copies rows of `from` [.., columns], one after the other, to `to`; converts each element by `as`.
template <class From, class To, class As>
void gather_rows(const From* from, int64_t columns, std::span<const int32_t> rows, To* to, const As& as) {
  for (const int32_t row : rows) to = std::transform(from + row * columns, from + (row + 1) * columns, to, as);
}

constexpr auto as_it_is = [](auto x) { return x; };

}  // namespace

void check_scoring(float temperature, const TokenScores& scores, const model::ModelConfig& config) {
  const char* const call = scores.teaches() ? "teach" : "score";
  if (!(temperature > 0)) fail(Code::kConfig, "%s: temperature is %g; it must be positive.", call, double(temperature));
  if (scores.k >= 0 && scores.k <= config.vocabulary) return;
  fail(Code::kConfig, "teach: the %lld likeliest tokens of a vocabulary of %lld.", (long long)scores.k, (long long)config.vocabulary);
}

void TeacherHead::set(const Stream& stream, const float* w, int64_t rows, int64_t width, float softcap) {
  if (stream.is_cuda() && width % 8 != 0) fail(Code::kShape, "set_teacher_head: rows of %lld weights; on a GPU a multiple of 8.", (long long)width);
  if (stream.is_cuda() && softcap != 0.0f) fail(Code::kUnsupported, "set_teacher_head: logits capped at %g, which only the CPU's kernels have.", double(softcap));
  weights_ = Arena();
  head_ = {};
  const int64_t bytes = kernels::packed_bytes(stream, rows, width, DType::kF32);
  weights_ = Arena(bytes, "teacher head", tensor_memory(stream));
  head_ = {.n = rows, .k = width, .panels = weights_.take(bytes)};
  softcap_ = softcap;
  if (stream.is_cuda()) return upload(stream, head_.panels, w, bytes);  // not packed (kernels/divergence.h)
  kernels::pack_matrix(stream, {f32(const_cast<float*>(w), {rows, width}), false, head_});
}

void TeacherHead::check(const TrainingBatch& batch, const StepOptions& o, int64_t vocabulary) const {
  if (!o.divergence.on()) return;
  const TeacherTokens& t = batch.teacher;
  if (!(o.divergence.beta >= 0.0f && o.divergence.beta <= 1.0f)) fail(Code::kConfig, "step: divergence.beta is %g; it must be in [0, 1].", double(o.divergence.beta));
  if (o.divergence.rest && (!t.ids || o.divergence.beta != 1.0f)) fail(Code::kConfig, "step: divergence.rest needs the teacher's likeliest tokens and divergence.beta 1.");
  if (t.ids) return check_ids(t, batch.step.counted_tokens, vocabulary);
  if (!t.hidden) fail(Code::kShape, "step: a divergence from a teacher needs its hidden states, or its likeliest tokens.");
  if (head_.k != t.columns) fail(Code::kShape, "step: the teacher's hidden states have %lld columns, its head %lld.", (long long)t.columns, (long long)head_.k);
  if (head_.n < vocabulary) fail(Code::kShape, "step: the teacher's head has %lld tokens, the model %lld.", (long long)head_.n, (long long)vocabulary);
}

void TeacherHead::lay_rows(const Stream& stream, const TeacherTokens& t, std::span<const int32_t> rows, kernels::Divergence& divergence) {
  const auto R = int64_t(rows.size());
  const DType type = t.ids ? DType::kF32 : activation_dtype(stream);
  const int64_t bytes = (t.ids ? 2 : 1) * Arena::rounded(R * t.columns * dtype_bytes(type));
  if (bytes > said_bytes_) {
    said_ = {};
    said_bytes_ = 0;
    said_ = SharedArrays(stream, bytes, "what a teacher says");
    said_bytes_ = bytes;
  }
  said_.clear();
  if (t.ids) {
    const auto ids = said_.take<int32_t>(R * t.columns);
    const auto logprobs = said_.take<float>(R * t.columns);
    gather_rows(t.ids, t.columns, rows, ids.host, as_it_is), gather_rows(t.logprobs, t.columns, rows, logprobs.host, as_it_is);
    divergence.ids = {ids.device, DType::kI32, {R, t.columns}}, divergence.logprobs = {logprobs.device, DType::kF32, {R, t.columns}};
  } else if (stream.is_cuda()) {
    const auto hidden = said_.take<uint16_t>(R * t.columns);
    // rounds to bf16, as a teacher on a GPU does
    gather_rows(t.hidden, t.columns, rows, hidden.host, f32_to_bf16);
    divergence.hidden = {hidden.device, DType::kBF16, {R, t.columns}};
  } else {
    const auto hidden = said_.take<float>(R * t.columns);
    gather_rows(t.hidden, t.columns, rows, hidden.host, as_it_is);
    divergence.hidden = {hidden.device, DType::kF32, {R, t.columns}};
  }
  said_.upload(stream, 0, said_.used());
}

kernels::Divergence TeacherHead::of(const Stream& stream, const TrainingBatch& batch, const StepOptions& o, std::span<const int32_t> rows,
                                    int64_t vocabulary) {
  kernels::Divergence divergence{.beta = o.divergence.beta, .head = head_, .softcap = softcap_, .rest = o.divergence.rest};
  lay_rows(stream, batch.teacher, rows, divergence);
  const int64_t bytes = kernels::divergence_scratch_bytes(stream, int64_t(rows.size()), vocabulary, divergence);
  if (bytes > scratch_bytes_) {
    scratch_ = Arena();
    scratch_bytes_ = 0;
    scratch_ = Arena(bytes, "teacher's logits", tensor_memory(stream));
    scratch_bytes_ = bytes;
  }
  divergence.scratch = &scratch_;
  return divergence;
}

kernels::Divergence rows_of(kernels::Divergence all, const model::RowRange& some) {
  for (TensorView* view : {&all.hidden, &all.ids, &all.logprobs}) {
    if (!view->empty()) *view = model::rows_of(*view, some);
  }
  return all;
}

}  // namespace hone::trainer
