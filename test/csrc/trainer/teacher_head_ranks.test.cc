// A teacher's whole distributions when several ranks train: each rank has the rows of its own micro-batches,
// or of its part of a team's, and all end with the bits of one trainer. Mutation tests:
// test/mutants/csrc-trainer.json.
#include "trainer/teacher_head.h"

#include "check.h"
#include "trainer/taught_course.h"

namespace trainer_teacher_head_ranks_test {
namespace {

using namespace hone;
using namespace hone::test;
using Stage = Sharding::Stage;

std::vector<Batch> batches_of(const model::ModelConfig& model) { return {drawn_batch(model, 7, 1), drawn_batch(model, 6, 2)}; }

TrainerConfig in_teams(Stage stage, bool exact, int sequence) {
  TrainerConfig config = config_of(stage, exact, 24 / sequence);
  config.sharding.sequence = sequence;
  return config;
}

void expect_on_ranks(int size, const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o, int64_t k, const TaughtCourse& wanted) {
  const auto said = on_ranks(size, [&](dist::Communicator& ranks) {
    const TaughtCourse own = taught_course(model, config, o, batches_of(model), k, &ranks);
    EXPECT_TRUE(same_said(own, wanted) && same_course(own.course, wanted.course));
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

}  // namespace

TEST(ranks_have_the_bits_of_one_trainer_whatever_they_divide) {
  const model::ModelConfig model = switch_configs()[0].second;
  for (const int64_t k : {0, 4}) {
    const StepOptions o = k ? taught_options(1.0f, true) : taught_options(0.3f);
    const TaughtCourse solo = taught_course(model, in_teams(Stage::kOptimizer, true, 1), o, batches_of(model), k);
    EXPECT_TRUE(solo.course.reports[0].micro_batches >= 3);
    double far = 0;
    for (const float d : solo.course.reports[0].divergences) far += double(d);
    EXPECT_TRUE(far > 0.1);
    for (const auto& [size, stage] : {std::pair{2, Stage::kOptimizer}, {3, Stage::kGradients}, {2, Stage::kParameters}}) {
      expect_on_ranks(size, model, in_teams(stage, true, 1), o, k, solo);
    }
    const TaughtCourse plain = taught_course(model, config_of(Stage::kNone, false), o, batches_of(model), k);
    EXPECT_TRUE(same_said(solo, plain));
    expect_near(solo.course, plain.course);
  }
}

TEST(ranks_that_have_a_micro_batch_together_have_the_bits_of_one_that_adds_up_the_same_rows) {
  const model::ModelConfig model = switch_configs()[3].second;
  for (const int64_t k : {0, 4}) {
    const StepOptions o = taught_options(0.3f);
    const TaughtCourse solo = taught_course(model, in_teams(Stage::kOptimizer, true, 2), o, batches_of(model), k);
    expect_on_ranks(2, model, in_teams(Stage::kOptimizer, true, 2), o, k, solo);
    expect_on_ranks(4, model, in_teams(Stage::kParameters, true, 2), o, k, solo);
    expect_near(solo.course, taught_course(model, config_of(Stage::kNone, false), o, batches_of(model), k).course);
  }
}

TEST(ranks_that_are_told_other_things_of_a_teacher_take_no_step) {
  const model::ModelConfig model = tiny_config();
  const Batch batch = drawn_batch(model, 4, 1);
  for (const bool step : {true, false}) {
    const auto said = on_ranks(2, [&](dist::Communicator& ranks) {
      Trainer trainer(model, config_of(Stage::kOptimizer, true), nullptr, &ranks);
      start(trainer, 3);
      Said own = said_by(trainer, batch, model.width, 3);
      own.top[5] -= float(ranks.rank());
      if (step) trainer.step(taught_view(batch, own, model.width, 3), taught_options(0.5f));
      else said_by(trainer, batch, model.width, 2 + ranks.rank());
    });
    for (const std::string& text : said) EXPECT_TRUE(has(text, "STATE") && has(text, "rank 1 was given another"));
  }
}

}  // namespace trainer_teacher_head_ranks_test
