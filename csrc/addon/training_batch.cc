#include "addon/training_batch.h"

#include <algorithm>

#include "addon/arguments.h"

namespace hone::addon {
namespace {

void expect_length(const char* name, size_t length, size_t wanted) {
  if (length != wanted) fail(Code::kShape, "batch: %s has %zu entries, expected %zu.", name, length, wanted);
}

template <class T>
void read_optional(const Fields& f, const char* name, size_t wanted, std::vector<T>& out) {
  if (!f.has(name)) return;
  copy_array(f.get(name), name, out);
  expect_length(name, out.size(), wanted);
}

void check_offsets(const std::vector<int32_t>& offsets, size_t tokens) {
  if (offsets.empty() || offsets.front() != 0) fail(Code::kShape, "batch: cuSeqlens must start with 0.");
  for (size_t i = 1; i < offsets.size(); ++i) {
    if (offsets[i] > offsets[i - 1]) continue;
    fail(Code::kShape, "batch: cuSeqlens[%zu] is %d after %d; a sequence has at least one token.", i, offsets[i], offsets[i - 1]);
  }
  if (size_t(offsets.back()) != tokens) {
    fail(Code::kShape, "batch: cuSeqlens ends at %d, but there are %zu tokens.", offsets.back(), tokens);
  }
}

/// Number of columns of an array that has one row per counted token (mask 1).
int64_t columns_of(const char* name, size_t length, int64_t counted) {
  if (counted == 0 || length % size_t(counted) == 0) return counted == 0 ? 0 : int64_t(length) / counted;
  fail(Code::kShape, "batch: %s has %zu entries, which is no multiple of the %lld tokens with mask 1.", name, length, (long long)counted);
}

void read_teacher(const Fields& f, OwnedBatch& b) {
  if (f.has("teacherHidden")) copy_array(f.get("teacherHidden"), "teacherHidden", b.teacher_hidden);
  if (f.has("teacherIds")) copy_array(f.get("teacherIds"), "teacherIds", b.teacher_ids);
  read_optional(f, "teacherTopLogprobs", b.teacher_ids.size(), b.teacher_top_logprobs);
  expect_length("teacherTopLogprobs", b.teacher_top_logprobs.size(), b.teacher_ids.size());
  columns_of("teacherHidden", b.teacher_hidden.size(), b.step.counted_tokens);
  columns_of("teacherIds", b.teacher_ids.size(), b.step.counted_tokens);
}

template <class T>
const T* or_null(const std::vector<T>& v) {
  return v.empty() ? nullptr : v.data();
}

}  // namespace

OwnedBatch read_batch(const Napi::Value& value) {
  const Fields f(value, "batch");
  OwnedBatch b;
  copy_array(f.get("tokens"), "batch.tokens", b.tokens);
  copy_array(f.get("cuSeqlens"), "batch.cuSeqlens", b.cu_seqlens);
  copy_array(f.get("mask"), "batch.mask", b.mask);
  const size_t T = b.tokens.size(), S = std::max<size_t>(b.cu_seqlens.size(), 1) - 1;
  expect_length("mask", b.mask.size(), T);
  check_offsets(b.cu_seqlens, T);
  read_optional(f, "behaviorLogprobs", T, b.behavior_logprobs);
  read_optional(f, "referenceLogprobs", T, b.reference_logprobs);
  read_optional(f, "proximalLogprobs", T, b.proximal_logprobs);
  read_optional(f, "advantages", S, b.advantages);
  read_optional(f, "tokenAdvantages", T, b.token_advantages);
  read_optional(f, "tokenWeights", T, b.token_weights);
  read_optional(f, "tokenPenalties", T, b.token_penalties);
  read_optional(f, "groupSizes", S, b.group_sizes);
  if (f.has("routes")) copy_array(f.get("routes"), "routes", b.routes);
  if (T > 0 && b.routes.size() % T != 0) {
    fail(Code::kShape, "batch: routes has %zu entries, which is no multiple of the %zu tokens.", b.routes.size(), T);
  }
  b.step.sequences = f.integer_or<int32_t>("sequences", int32_t(S));
  b.step.counted_tokens = std::count_if(b.mask.begin(), b.mask.end(), [](uint8_t m) { return m != 0; });
  read_teacher(f, b);
  b.step.groups = f.integer_or<int32_t>("groups", 1);
  b.step.dr_grpo = f.has("drGrpoNormalizer") ? f.number("drGrpoNormalizer") : 1.0;
  return b;
}

trainer::TrainingBatch OwnedBatch::view() const {
  trainer::TrainingBatch batch;
  batch.tokens = tokens.data();
  batch.cu_seqlens = cu_seqlens.data();
  batch.mask = mask.data();
  batch.behavior_logprobs = or_null(behavior_logprobs);
  batch.reference_logprobs = or_null(reference_logprobs);
  batch.proximal_logprobs = or_null(proximal_logprobs);
  batch.advantages = or_null(advantages);
  batch.token_advantages = or_null(token_advantages);
  batch.token_weights = or_null(token_weights);
  batch.token_penalties = or_null(token_penalties);
  batch.group_sizes = or_null(group_sizes);
  batch.routes = or_null(routes);
  batch.route_bytes = tokens.empty() ? 0 : int64_t(routes.size() / tokens.size());
  const std::vector<float>& of_teacher = teacher_ids.empty() ? teacher_hidden : teacher_top_logprobs;
  batch.teacher = {.hidden = or_null(teacher_hidden),
                   .ids = or_null(teacher_ids),
                   .logprobs = or_null(teacher_top_logprobs),
                   .columns = columns_of("teacher", of_teacher.size(), step.counted_tokens)};
  batch.sequences = int64_t(cu_seqlens.size()) - 1;
  batch.step = step;
  return batch;
}

}  // namespace hone::addon
