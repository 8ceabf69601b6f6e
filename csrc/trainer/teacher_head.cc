#include "trainer/teacher_head.h"

#include "trainer/micro_batch.h"

namespace hone::trainer {
namespace {

void check_ids(const TeacherTokens& teacher, int64_t tokens, int64_t vocabulary) {
  for (int64_t i = 0; i < tokens * teacher.columns; ++i) {
    if (teacher.ids[i] >= 0 && teacher.ids[i] < vocabulary) continue;
    fail(Code::kShape, "step: teacher_ids[%lld] is %d, outside the vocabulary [0, %lld).", (long long)i, teacher.ids[i], (long long)vocabulary);
  }
}

void expect_alone(const char* call, bool is_alone) {
  if (is_alone) return;
  fail(Code::kUnsupported, "%s: a divergence from a teacher is computed on the CPU, by one trainer alone. Learn from sampled tokens instead.", call);
}

}  // namespace

TrainingBatch check_teaching(const TrainingBatch& batch, const model::ModelConfig& config, float temperature, const TeacherScores& scores,
                             bool is_alone) {
  expect_alone("teach", is_alone);
  check_batch(batch, config, nullptr);
  if (!(temperature > 0)) fail(Code::kConfig, "teach: temperature is %g; it must be positive.", double(temperature));
  if (!scores.hidden && (scores.k < 1 || scores.k > config.vocabulary)) {
    fail(Code::kConfig, "teach: the %lld likeliest tokens of a vocabulary of %lld.", (long long)scores.k, (long long)config.vocabulary);
  }
  TrainingBatch numbered = batch;
  numbered.teacher.hidden = scores.logprobs;  // so that rows are numbered; what is there is not read
  return numbered;
}

void TeacherHead::set(const Stream& stream, const float* w, int64_t rows, int64_t width, float softcap) {
  expect_alone("set_teacher_head", !stream.is_cuda());
  weights_ = Arena();
  head_ = {};
  weights_ = Arena(kernels::packed_bytes(stream, rows, width, DType::kF32), "teacher head");
  head_ = {.n = rows, .k = width, .panels = weights_.take(kernels::packed_bytes(stream, rows, width, DType::kF32))};
  kernels::pack_matrix(stream, {f32(const_cast<float*>(w), {rows, width}), false, head_});
  softcap_ = softcap;
}

void TeacherHead::check(const TrainingBatch& batch, const StepOptions& o, int64_t vocabulary, bool is_alone) const {
  if (!o.divergence.on()) return;
  expect_alone("step", is_alone);
  const TeacherTokens& t = batch.teacher;
  if (!(o.divergence.beta >= 0.0f && o.divergence.beta <= 1.0f)) fail(Code::kConfig, "step: divergence.beta is %g; it must be in [0, 1].", double(o.divergence.beta));
  if (o.divergence.rest && (!t.ids || o.divergence.beta != 1.0f)) fail(Code::kConfig, "step: divergence.rest is of likeliest tokens, and of beta 1.");
  if (t.ids) return check_ids(t, batch.step.counted_tokens, vocabulary);
  if (!t.hidden) fail(Code::kShape, "step: a divergence from a teacher needs its hidden states, or its likeliest tokens.");
  if (head_.k != t.columns) fail(Code::kShape, "step: the teacher's hidden states have %lld columns, its head %lld.", (long long)t.columns, (long long)head_.k);
  if (head_.n < vocabulary) fail(Code::kShape, "step: the teacher's head has %lld tokens, the model %lld.", (long long)head_.n, (long long)vocabulary);
}

kernels::Divergence TeacherHead::of(const TrainingBatch& batch, const StepOptions& o, int64_t rows, int64_t vocabulary) {
  if (!o.divergence.on()) return {};
  const TeacherTokens& t = batch.teacher;
  kernels::Divergence divergence{.beta = o.divergence.beta,
                                 .hidden = t.ids ? nullptr : t.hidden,
                                 .head = head_,
                                 .softcap = softcap_,
                                 .ids = t.ids,
                                 .logprobs = t.logprobs,
                                 .k = t.ids ? t.columns : 0,
                                 .rest = o.divergence.rest};
  const int64_t bytes = kernels::divergence_scratch_bytes(rows, vocabulary, divergence);
  if (bytes > reserved_) {
    scratch_ = Arena();
    reserved_ = 0;
    scratch_ = Arena(bytes, "teacher's logits");
    reserved_ = bytes;
  }
  divergence.scratch = &scratch_;
  return divergence;
}

}  // namespace hone::trainer
