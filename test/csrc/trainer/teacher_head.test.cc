// What a trainer computes as a teacher, and which teacher data a trainer refuses. kernels/divergence.test.cc
// tests the divergence and its gradient; test/e2e/distillation.test.ts whole runs. Faults put into the code,
// each detected: rows numbered within the micro-batch (rows); the head's tokens not compared (refusals).
#include "trainer/teacher_head.h"

#include <cmath>
#include <vector>

#include "check.h"
#include "trainer/reference_loss.h"
#include "trainer/trainer.h"
namespace trainer_teacher_head_test {
namespace {

using namespace hone;
using test::Batch;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Trainer;
using trainer::TrainerConfig;

constexpr int64_t kTop = 3;

TrainerConfig packing(int64_t tokens) {
  TrainerConfig config;
  config.packed_tokens = tokens;
  return config;
}

struct Taught {
  model::ModelConfig config = test::switch_configs()[0].second;
  Trainer student{config, packing(4096), nullptr}, teacher{config, packing(16), nullptr};
  Batch batch;
  std::vector<float> logprobs, hidden, top;
  std::vector<int32_t> ids;
  StepOptions options;

  Taught() {
    for (Trainer* trainer : {&student, &teacher}) test::roughen(trainer->parameters(), test::random()()), trainer->parameters_changed();
    for (int i = 0; i < 5; ++i) {
      std::vector<int32_t> tokens(static_cast<size_t>(4 + i));
      for (int32_t& token : tokens) token = int32_t(test::random_int(0, config.vocabulary - 1));
      batch.add(tokens, 2, 0.0f, 5);
    }
    test::Reference reference(student.parameters());
    test::add_logprobs(batch, reference, 1.0);
    const auto view = batch.view();
    const auto rows = size_t(view.step.counted_tokens), T = size_t(view.cu_seqlens[view.sequences]);
    logprobs.resize(T), hidden.resize(rows * size_t(config.width)), top.resize(rows * kTop), ids.resize(rows * kTop);
    teacher.teach(view, 1.0f, {.logprobs = logprobs.data(), .hidden = hidden.data()});
    teacher.teach(view, 1.0f, {.logprobs = logprobs.data(), .ids = ids.data(), .top_logprobs = top.data(), .k = kTop});
    const TensorView head = teacher.parameters().head();
    student.teacher().set(student.stream(), head.as<float>(), head.dim(0), head.dim(1), config.logit_softcap);
    options.divergence = {.coef = 0.5f, .beta = 0.3f};
  }
  trainer::TrainingBatch whole() const {
    auto view = batch.view();
    view.teacher = {.hidden = hidden.data(), .columns = config.width};
    return view;
  }
  trainer::TrainingBatch likeliest() const {
    auto view = batch.view();
    view.teacher = {.ids = ids.data(), .logprobs = top.data(), .columns = kTop};
    return view;
  }
};

}  // namespace

TEST(a_teacher_says_the_log_probs_that_it_scores_and_its_rows_are_the_batchs_whatever_the_micro_batches) {
  Taught t;
  const auto view = t.batch.view();
  std::vector<float> scored(t.logprobs.size()), entropies(scored.size());
  t.teacher.score(view, 1.0f, scored.data(), entropies.data());
  for (size_t i = 0; i < scored.size(); ++i) {
    if (view.mask[i]) { EXPECT_EQ(t.logprobs[i], scored[i]); }
  }
  const StepReport apart = t.student.step(t.whole(), t.options);
  Trainer other(t.config, packing(8), nullptr);
  const auto from = t.teacher.parameters().flat(), to = other.parameters().flat();
  std::copy_n(from.as<float>(), from.numel(), to.as<float>());
  other.parameters_changed();
  const TensorView head = t.teacher.parameters().head();
  other.teacher().set(other.stream(), head.as<float>(), head.dim(0), head.dim(1), t.config.logit_softcap);
  const StepReport same = other.step(t.whole(), t.options);
  double far = 0, near = 0;
  for (const float d : apart.divergences) far += double(d);
  for (const float d : same.divergences) near += std::fabs(double(d));
  EXPECT_TRUE(far > 1e-3 && near < 1e-5);
}

TEST(the_loss_has_the_mean_of_the_divergences_and_the_report_each) {
  for (const bool whole : {true, false}) {
    Taught t;
    const auto view = whole ? t.whole() : t.likeliest();
    const StepReport report = t.student.step(view, t.options);
    double sum = 0;
    for (const float d : report.divergences) sum += double(d);
    EXPECT_NEAR(report.loss - report.policy_loss, 0.5 * sum / double(view.step.counted_tokens), 1e-12);
    for (size_t i = 0; i < report.divergences.size(); ++i) EXPECT_EQ(report.divergences[i] != 0.0f, view.mask[i] == 1);
  }
}

TEST(by_sequence_each_token_has_the_weight_of_a_kl_term) {
  for (const auto weight : {kernels::SequenceWeight::kUniform, kernels::SequenceWeight::kLength}) {
    for (const bool rest : {false, true}) {
      Taught t;
      t.options.sequence_weight = weight;
      t.options.divergence = {.coef = 0.5f, .beta = 1.0f, .by_sequence = true, .rest = rest};
      const auto view = rest ? t.likeliest() : t.whole();
      const StepReport report = t.student.step(view, t.options);
      double sum = 0;
      for (int64_t i = 0; i < view.sequences; ++i) {
        double own = 0, n = 0;
        for (int32_t at = view.cu_seqlens[i]; at < view.cu_seqlens[i + 1]; ++at) own += double(report.divergences[size_t(at)]), n += view.mask[at];
        sum += own / (double(view.step.sequences) * (weight == kernels::SequenceWeight::kLength ? 1.0 : n));
      }
      EXPECT_NEAR(report.loss - report.policy_loss, 0.5 * sum, 1e-12);
    }
  }
}

TEST(what_is_no_teacher_of_this_batch_is_refused_before_anything_changes) {
  Taught t;
  StepOptions wrong = t.options;
  wrong.divergence.beta = -0.1f;
  EXPECT_THROWS(t.student.step(t.whole(), wrong), Code::kConfig);
  wrong.divergence = {.coef = 0.5f, .beta = 1.0f, .rest = true};
  EXPECT_THROWS(t.student.step(t.whole(), wrong), Code::kConfig);
  wrong.divergence.beta = 0.5f;
  EXPECT_THROWS(t.student.step(t.likeliest(), wrong), Code::kConfig);
  EXPECT_THROWS(t.student.step(t.batch.view(), t.options), Code::kShape);
  auto narrow = t.whole();
  narrow.teacher.columns = t.config.width - 1;
  EXPECT_THROWS(t.student.step(narrow, t.options), Code::kShape);
  t.ids[1] = int32_t(t.config.vocabulary);
  EXPECT_THROWS(t.student.step(t.likeliest(), t.options), Code::kShape);
  const TensorView head = t.teacher.parameters().head();
  t.student.teacher().set(t.student.stream(), head.as<float>(), head.dim(0) - 1, head.dim(1), 0.0f);
  EXPECT_THROWS(t.student.step(t.whole(), t.options), Code::kShape);
  EXPECT_THROWS(t.teacher.teach(t.batch.view(), 1.0f, {.logprobs = t.logprobs.data(), .k = t.config.vocabulary + 1}), Code::kConfig);
  EXPECT_EQ(t.student.version(), 0u);
}
}  // namespace trainer_teacher_head_test
