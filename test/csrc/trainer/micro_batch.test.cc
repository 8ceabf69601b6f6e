// What a micro-batch gathers, and every batch that is refused before anything is computed.
// Mutants tried: positions not restarted, targets of the previous token, counted tokens not compared: die. Mask
// values above 1 accepted: lives, because the count then differs.
#include "trainer/micro_batch.h"

#include <algorithm>
#include <functional>

#include "check.h"
#include "trainer/reference_loss.h"

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

TEST(sequences_are_laid_side_by_side) {
  const Batch batch = three_sequences();
  PackedBatch packed;
  packed.gather(batch.view(), {{0, 1, 2}, 9});  // a larger one first: its leftovers must not show
  packed.gather(batch.view(), {{0, 2}, 7});
  EXPECT_TRUE((packed.ids == std::vector<int32_t>{5, 6, 7, 1, 2, 3, 4}));
  EXPECT_TRUE((packed.positions == std::vector<int32_t>{0, 1, 2, 0, 1, 2, 3}));
  EXPECT_TRUE((packed.cu_seqlens == std::vector<int32_t>{0, 3, 7}));
  EXPECT_TRUE((packed.mask == std::vector<uint8_t>{0, 1, 1, 0, 0, 1, 1}));
  EXPECT_TRUE((packed.loss_token == std::vector<int32_t>{1, 2, 5, 6}));
  EXPECT_TRUE((packed.loss_row == std::vector<int32_t>{0, 1, 4, 5}));
  EXPECT_TRUE((packed.targets == std::vector<int32_t>{6, 7, 3, 4}));
  EXPECT_TRUE((packed.behavior == std::vector<float>{0, 1, 2, 5, 6, 7, 8}));
  EXPECT_TRUE((packed.reference == std::vector<float>{10, 11, 12, 15, 16, 17, 18}));
  EXPECT_TRUE((packed.token_advantages == std::vector<float>{100, 101, 102, 105, 106, 107, 108}));
  EXPECT_TRUE((packed.advantages == std::vector<float>{0.5f, 1.5f}));
  EXPECT_TRUE((packed.group_sizes == std::vector<int32_t>{2, 1}));
  EXPECT_TRUE(packed.logprobs == std::vector<float>(7) && packed.ratios == std::vector<float>(7));
  EXPECT_TRUE(packed.row_logprobs.size() == 4 && packed.sequence_losses == std::vector<double>(2));
  EXPECT_EQ(packed.rows().ids.dim(0), 7);
  EXPECT_EQ(packed.rows().cu_seqlens.dim(0), 3);
}

TEST(results_go_back_to_their_places) {
  const Batch batch = three_sequences();
  std::vector<float> out(9, -1.0f);
  trainer::scatter(batch.view(), MicroBatch{{0, 2}, 7}, std::vector<float>{0, 1, 2, 3, 4, 5, 6}, out.data());
  EXPECT_TRUE((out == std::vector<float>{0, 1, 2, -1, -1, 3, 4, 5, 6}));
}

TEST(what_is_not_needed_may_be_absent) {
  Batch batch = three_sequences();
  batch.reference.clear();
  batch.token_advantages.clear();
  PackedBatch packed;
  packed.gather(batch.view(), {{1}, 2});
  EXPECT_TRUE(packed.reference.empty() && packed.token_advantages.empty());
  EXPECT_TRUE((packed.behavior == std::vector<float>{3, 4}));
}

TEST(a_good_batch_is_accepted_for_every_objective) {
  const Batch batch = three_sequences();
  for (int objective = 0; objective <= int(Objective::kSupervised); ++objective) {
    StepOptions o;
    o.objective = Objective(objective);
    o.kl_coef = 0.1f;
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
  refuse(Code::kShape, [&](Batch& b, auto&, auto&) { b.tokens[1] = int32_t(config.vocabulary); });
  refuse(Code::kShape, [&](Batch& b, auto&, auto&) { b.tokens[0] = -1; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.cu_seqlens[0] = 1; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.cu_seqlens[2] = b.cu_seqlens[1]; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.mask[0] = 1; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { b.mask[1] = 2; });
  refuse(Code::kShape, [](Batch& b, auto&, auto&) { std::fill(b.mask.begin(), b.mask.end(), uint8_t(0)); });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { v.sequences = 0; });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { ++v.step.counted_tokens; });
  refuse(Code::kShape, [](Batch&, auto& v, auto&) { ++v.step.sequences; });
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
TEST_MAIN
