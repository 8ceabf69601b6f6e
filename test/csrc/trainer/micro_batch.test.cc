// What PackedBatch gathers, and every batch that is refused before anything is computed. Faults put into the
// code: positions not restarted, targets of the previous token, counted tokens not compared; each is
// detected. Mask values above 1 accepted: not detected, because the count then differs.
#include "trainer/micro_batch.h"

#include <algorithm>
#include <functional>

#include "check.h"
#include "trainer/reference_loss.h"

namespace trainer_micro_batch_test {
namespace {

using namespace hone;
using kernels::Objective;
using test::Batch;
using trainer::MicroBatch;
using trainer::PackedBatch;
using trainer::StepOptions;

Batch three_sequences() {
  Batch b;
  b.add({5, 6, 7}, 1, 0.5f, 2);
  b.add({8, 9}, 1, -0.5f, 2);
  b.add({1, 2, 3, 4}, 2, 1.5f, 1);
  for (size_t t = 0; t < b.tokens.size(); ++t) {
    b.behavior.push_back(float(t));
    b.reference.push_back(10.0f + float(t));
    b.token_advantages.push_back(100.0f + float(t));
  }
  return b;
}

template <class T>
bool equal(const SharedArrays::Array<T>& found, const std::vector<T>& wanted) {
  return std::vector<T>(found.host, found.host + found.size) == wanted;
}

TEST(sequences_are_laid_side_by_side) {
  const Batch batch = three_sequences();
  PackedBatch packed{Stream{}};
  packed.gather(batch.view(), {{0, 1, 2}, 9});  // first a larger one, whose leftovers must have no effect
  packed.gather(batch.view(), {{0, 2}, 7});
  EXPECT_TRUE(equal(packed.ids, {5, 6, 7, 1, 2, 3, 4}));
  EXPECT_TRUE(equal(packed.positions, {0, 1, 2, 0, 1, 2, 3}));
  EXPECT_TRUE(equal(packed.cu_seqlens, {0, 3, 7}));
  EXPECT_TRUE(equal(packed.loss_row, {0, 1, 4, 5}));
  EXPECT_TRUE(equal(packed.targets, {6, 7, 3, 4}));
  EXPECT_TRUE(equal(packed.advantages, {0.5f, 1.5f}));
  EXPECT_TRUE(equal(packed.group_sizes, {2, 1}));
  EXPECT_EQ(packed.rows().ids.dim(0), 7);
  EXPECT_EQ(packed.rows().cu_seqlens.dim(0), 3);
}

TEST(the_objective_is_given_the_counted_tokens_only) {
  const Batch batch = three_sequences();
  PackedBatch packed{Stream{}};
  packed.gather(batch.view(), {{0, 2}, 7});
  EXPECT_TRUE(equal(packed.loss_starts, {0, 2, 4}));
  EXPECT_TRUE(equal(packed.mask, {1, 1, 1, 1}));
  EXPECT_TRUE(equal(packed.behavior, {1, 2, 7, 8}));
  EXPECT_TRUE(equal(packed.reference, {11, 12, 17, 18}));
  EXPECT_TRUE(equal(packed.token_advantages, {101, 102, 107, 108}));
  StepOptions o;
  o.kl_coef = 0.25f, o.entropy_coef = 0.5f;
  const kernels::PolicyLossArgs with = packed.loss_args(batch.view(), o, true), without = packed.loss_args(batch.view(), o, false);
  EXPECT_TRUE(with.kl_coef == 0.25f && with.entropy_coef == 0.5f && without.kl_coef == 0.0f && without.entropy_coef == 0.0f);
  EXPECT_TRUE(with.sequence_losses.data == packed.losses.device && without.sequence_losses.data == packed.policy_losses.device);
  for (const TensorView& view : {with.logprobs, with.entropies, with.a, with.b, with.ratios}) EXPECT_EQ(view.dim(0), 4);
  EXPECT_EQ(with.sequence_losses.dim(0), 2);
}

TEST(results_go_back_to_their_places) {
  const Batch batch = three_sequences();
  std::vector<float> out(9, -1.0f);
  const std::vector<float> values{1, 2, 3, 4};
  trainer::scatter(batch.view(), MicroBatch{{0, 2}, 7}, values.data(), out.data());
  EXPECT_TRUE((out == std::vector<float>{0, 1, 2, -1, -1, 0, 0, 3, 4}));
}

TEST(what_is_not_needed_may_be_absent) {
  Batch batch = three_sequences();
  PackedBatch packed{Stream{}};
  packed.gather(batch.view(), {{1}, 2});
  EXPECT_TRUE(packed.reference.device && packed.token_advantages.device);
  batch.reference.clear();
  batch.token_advantages.clear();
  packed.gather(batch.view(), {{1}, 2});
  EXPECT_TRUE(!packed.reference.device && !packed.token_advantages.device);
  EXPECT_TRUE(equal(packed.behavior, {4}));
}

TEST(a_good_batch_is_accepted_for_every_objective) {
  const Batch batch = three_sequences();
  for (int objective = 0; objective <= int(Objective::kSupervised); ++objective) {
    StepOptions o;
    o.objective = Objective(objective);
    o.kl_coef = 0.1f;
    if (o.objective == Objective::kCustom) o.slopes = [](const trainer::SlopesRequest&) {};
    trainer::check_batch(batch.view(), test::tiny_config(), &o);
  }
}

TEST(inconsistent_batches_are_refused) {
  const model::ModelConfig config = test::tiny_config();
  Batch good = three_sequences();
  good.reference.clear();
  good.token_advantages.clear();
  const auto refuse = [&](Code code, const std::function<void(Batch&, trainer::TrainingBatch&, StepOptions&)>& spoil) {
    Batch bad = good;
    StepOptions o;
    trainer::TrainingBatch view = bad.view();
    spoil(bad, view, o);
    EXPECT_THROWS(trainer::check_batch(view, config, &o), code);
  };
  // a custom objective without its function
  refuse(Code::kConfig, [](auto&, auto&, StepOptions& o) { o.objective = Objective::kCustom; });
  refuse(Code::kShape, [&](Batch& b, auto&, auto&) { b.tokens[1] = int32_t(config.vocabulary); });
  refuse(Code::kShape, [&](Batch& b, auto&, auto&) { b.tokens[0] = -1; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.cu_seqlens[0] = 1; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.cu_seqlens[2] = b.cu_seqlens[1]; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.mask[0] = 1; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.mask[1] = 2; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { std::fill(b.mask.begin(), b.mask.end(), uint8_t(0)); });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { v.sequences = 0; });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { ++v.step.counted_tokens; });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { --v.step.sequences; });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { v.behavior_logprobs = nullptr; });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { v.advantages = nullptr; });
  refuse(Code::kShape, [](Batch&, auto&, auto& o) { o.kl_coef = 0.1f; });
  refuse(Code::kShape, [](Batch&, auto&, auto& o) { o.objective = Objective::kPpoClip; });
  refuse(Code::kShape, [](Batch&, auto& v, auto& o) { o.objective = Objective::kGrpo; v.group_sizes = nullptr; });
  refuse(Code::kShape, [](Batch& b, auto&, auto& o) { o.objective = Objective::kGrpo; b.group_sizes[1] = 0; });
  refuse(Code::kConfig, [](Batch&, auto&, auto& o) { o.temperature = 0.0f; });
  refuse(Code::kConfig, [](Batch&, auto&, auto& o) { o.lr = std::nanf(""); });
  refuse(Code::kConfig, [](Batch&, auto&, auto& o) { o.clip_low = -1.0f; });
  Batch longer;
  longer.add(std::vector<int32_t>(size_t(config.max_positions) + 1, 1), 1, 1.0f);
  EXPECT_THROWS(trainer::check_batch(longer.view(), config, nullptr), Code::kShape);
}

}  // namespace
}  // namespace trainer_micro_batch_test
