// Trainers on GPUs that divide micro-batches, moments and gradients: each rank is a thread with a stream of
// the host shim, and a stand-in replaces NCCL. They are compared with one unsharded trainer on a GPU, and
// with ranks on the CPU. Mutation tests: test/mutants/csrc-trainer.json.
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>

#include "architectures.h"
#include "core/device.h"
#include "sharded_gpus.h"

namespace contract_sharded_cuda_test {

using namespace hone;
using namespace hone::test;
using trainer::OptimizerConfig;
using trainer::Sharding;
using trainer::StepOptions;
using trainer::StepReport;

TEST(gpus_that_are_exact_have_the_bits_of_one_whatever_they_divide) {
  NEEDS_SHIM;
  const ModelConfig model = small(2);
  const std::vector<Batch> batches = drawn_batches(model);
  const Course solo = run(model, gpu_config(Stage::kOptimizer, true), supervised(), batches);
  EXPECT_TRUE(solo.reports[0].micro_batches >= 3 && solo.reports[0].grad_scale < 1.0 && solo.reports[0].update_norm > 0);
  for (const auto& [size, stage] : {std::pair{3, Stage::kOptimizer}, {4, Stage::kGradients}, {2, Stage::kParameters}}) {
    TrainerConfig config = gpu_config(stage, true);
    config.recompute = stage == Stage::kParameters;
    for (const Course& course : run_ranks(size, model, config, supervised(), batches)) EXPECT_TRUE(same_course(course, solo));
  }
  // The only difference is the order in which gradients of micro-batches are summed.
  expect_near(solo, run(model, gpu_config(Stage::kNone, false), supervised(), batches));
}

TEST(gpus_that_divide_a_mixture_of_experts_have_the_bits_of_one) {
  NEEDS_SHIM;
  for (const char* const type : {"qwen3_moe", "gpt_oss"}) {
    const ModelConfig model = architecture_config(type);
    const std::vector<Batch> batches = drawn_batches(model);
    const Course solo = run(model, gpu_config(Stage::kOptimizer, true), supervised(), batches);
    EXPECT_TRUE(!solo.reports[0].expert_rows.empty() && solo.reports[0].update_norm > 0);
    for (const Stage stage : {Stage::kOptimizer, Stage::kGradients, Stage::kParameters}) {
      for (const Course& course : run_ranks(2, model, gpu_config(stage, true), supervised(), batches)) {
        EXPECT_TRUE(same_course(course, solo));
      }
    }
  }
}

/// With one rank, collectives are copies. Those of layers and moments overlap with other work, in an order
/// that the shim chooses at random.
TEST(a_gpu_that_divides_with_nobody_has_the_same_bits_when_its_streams_run_apart) {
  NEEDS_DEVICE;
  const ModelConfig model = small(2);
  const std::vector<Batch> batches = drawn_batches(model);
  const Course plain = run(model, gpu_config(Stage::kOptimizer, true), supervised(), batches);
  TrainerConfig config = gpu_config(Stage::kParameters, true);
  config.optimizer.moments_on_host = true;
  const Deferred streams;
  EXPECT_TRUE(same_course(run(model, config, supervised(), batches), plain));
}

TEST(gpus_that_add_up_their_own_first_are_within_the_bound_and_repeat_to_the_bit) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  const Course alone = run(model, gpu_config(Stage::kNone, false), supervised(), batches);
  for (const int size : {2, 3, 4}) {
    const auto first = run_ranks(size, model, gpu_config(Stage::kOptimizer, false), supervised(), batches);
    expect_near(first[0], alone);
    for (const Course& course : first) EXPECT_TRUE(same_course(course, first[0]));
    if (size > 2) continue;
    EXPECT_TRUE(same_course(run_ranks(size, model, gpu_config(Stage::kOptimizer, false), supervised(), batches)[1], first[0]));
  }
}

/// With one micro-batch and no clipping, no sum is left whose order could differ.
TEST(where_nothing_is_added_up_gpus_have_the_bits_of_one_trainer_that_divides_nothing) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  for (const DType moments : {DType::kF32, DType::kBF16}) {
    TrainerConfig config = gpu_config(Stage::kNone, false, 100);
    config.optimizer.gradient_clip = 0.0f, config.optimizer.moments = moments, config.optimizer.seed = 5;
    const Course alone = run(model, config, supervised(), batches);
    EXPECT_EQ(alone.reports[0].micro_batches, 1);
    for (const Stage stage : {Stage::kOptimizer, Stage::kParameters}) {
      config.sharding = {stage, true};
      config.optimizer.moments_on_host = stage == Stage::kParameters;
      for (const Course& course : run_ranks(2, model, config, supervised(), batches)) {
        EXPECT_TRUE(same(course.weights, alone.weights) && same(course.reports[1].logprobs, alone.reports[1].logprobs));
      }
    }
  }
}

/// GPUs and CPU agree within the rounding of bf16, by the bounds of contract/cuda.test.cc for one trainer.
TEST(gpus_do_what_the_ranks_of_the_cpu_do_within_the_rounding_of_bf16) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  TrainerConfig config = gpu_config(Stage::kParameters, true);
  const Course gpu = run_ranks(2, model, config, supervised(), batches)[1];
  config.device = Stream::Backend::kCpu;
  std::vector<Course> cpu(2);
  const auto said = on_ranks(2, [&](dist::Communicator& group) { cpu[size_t(group.rank())] = run(model, config, supervised(), batches, &group); });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
  const StepReport &a = gpu.reports[0], &b = cpu[1].reports[0];
  EXPECT_NEAR(a.loss, b.loss, 0.05 * std::fabs(b.loss));
  EXPECT_NEAR(a.grad_norm, b.grad_norm, 0.036 * b.grad_norm);
  for (size_t l = 0; l < b.layer_grad_norms.size(); ++l) EXPECT_NEAR(a.layer_grad_norms[l], b.layer_grad_norms[l], 0.05 * b.grad_norm);
  EXPECT_NEAR(a.weight_norm, b.weight_norm, 1e-3 * b.weight_norm);
  EXPECT_NEAR(a.update_norm, b.update_norm, 0.05 * b.update_norm);
  for (size_t t = 0; t < a.logprobs.size(); ++t) EXPECT_NEAR(a.logprobs[t], b.logprobs[t], 0.15);
}

TEST(adapters_and_muon_are_divided_on_gpus_too) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  for (const bool muon : {false, true}) {
    TrainerConfig config = gpu_config(Stage::kOptimizer, true);
    StepOptions o = supervised();
    o.muon_lr = 0.01f;
    if (muon) config.optimizer.kind = OptimizerConfig::Kind::kMuon;
    else config.adapters = {8, 8.0f, {"all-linear"}, 1};
    const Course solo = run(model, config, o, batches);
    for (const Course& course : run_ranks(3, model, config, o, batches)) EXPECT_TRUE(same_course(course, solo));
    config.sharding = {};
    expect_near(solo, run(model, config, o, batches));
  }
}

TEST(a_step_that_is_not_finite_changes_nothing_on_any_gpu_and_names_the_sequence) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  Batch infinite = drawn_batches(model)[0], huge;
  infinite.behavior.assign(infinite.tokens.size(), -4.0f);
  // the last token of sequence 1
  infinite.behavior[size_t(infinite.cu_seqlens[2]) - 1] = -std::numeric_limits<float>::infinity();
  infinite.advantages[1] = -1.0f;
  // The losses are finite and the gradient overflows: sequences of one loss token each, of ratio 1, with the
  // largest advantage.
  for (const int length : {7, 11, 4}) huge.add(std::vector<int32_t>(infinite.tokens.begin(), infinite.tokens.begin() + length), size_t(length - 1), -3e38f, 1);
  StepOptions o;
  o.lr = 0.01f;
  for (const bool overflows : {false, true}) {
    on_gpus(2, [&](dist::Communicator& group) {
      Trainer trainer(model, gpu_config(overflows ? Stage::kGradients : Stage::kOptimizer, true), nullptr, &group);
      roughen_all(trainer);
      for (int i = 0; i < 2; ++i) scale_head(trainer.parameters());
      trainer.parameters_changed();
      const auto before = values(trainer.parameters(), trainer.parameters().flat());
      Batch batch = overflows ? huge : infinite;
      std::vector<float> entropies(batch.tokens.size());
      if (overflows) batch.behavior.assign(batch.tokens.size(), 0.0f), trainer.score(batch.view(), 1.0f, batch.behavior.data(), entropies.data());
      const StepReport report = trainer.step(batch.view(), o);
      EXPECT_TRUE(report.skipped && std::isfinite(report.loss) == overflows && !(overflows && std::isfinite(report.grad_norm)));
      EXPECT_TRUE(overflows ? report.non_finite_sequence >= 0 : report.non_finite_sequence == 1);
      EXPECT_TRUE(before == values(trainer.parameters(), trainer.parameters().flat()) && trainer.version() == 0);
    });
  }
}

TEST(a_checkpoint_of_gpus_goes_on_with_any_number_of_them_and_on_the_cpu) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  const auto folder = std::filesystem::temp_directory_path() / ("hone-sharded-cuda-" + std::to_string(seed()));
  std::vector<float> wanted, weights;
  const auto next = [&](Trainer& trainer) { return course_of(trainer, supervised(), {batches[1]}).weights; };
  for (const bool host : {false, true}) {
    TrainerConfig config = gpu_config(host ? Stage::kGradients : Stage::kParameters, true);
    config.optimizer.moments_on_host = host;
    on_gpus(3, [&](dist::Communicator& group) {
      Trainer trainer(model, config, nullptr, &group);
      roughen_all(trainer);
      const Course before = course_of(trainer, supervised(), {batches[0]});
      trainer.save((folder / "three").string(), "extra");
      const std::vector<float> after = next(trainer);
      if (group.rank() == 0) weights = before.weights, wanted = after;
    });
    if (!host) on_gpus(2, [&](dist::Communicator& group) {
      Trainer trainer(model, gpu_config(Stage::kOptimizer, true), nullptr, &group);
      EXPECT_EQ(trainer.load((folder / "three").string()), std::string("extra"));
      EXPECT_TRUE(same(next(trainer), wanted));
    });
    Trainer alone(model, gpu_config(Stage::kOptimizer, true), nullptr);
    alone.load((folder / "three").string());
    EXPECT_TRUE(same(next(alone), wanted));
    Trainer cpu(model, config_of(Stage::kNone, false), nullptr);
    cpu.load((folder / "three").string());
    EXPECT_TRUE(same(values(cpu.trained(), cpu.trained().flat()), weights));
    std::filesystem::remove_all(folder);
  }
}

/// Sharded weights are packed and scored like unsharded ones, also if they were gathered in between.
TEST(weights_that_gpus_divide_are_published_and_scored_as_whole_ones) {
  NEEDS_SHIM;
  const ModelConfig model = small(2);
  const std::vector<Batch> batches = drawn_batches(model);
  const auto packed = [](Trainer& trainer) {
    std::vector<std::vector<std::byte>> out;
    const auto weights = trainer.snapshot();
    const Device device(kCuda, nullptr);
    for (const model::WeightSnapshot::Part& part : weights->parts(trainer.parameters())) {
      const TensorView flat = part.flat();
      out.emplace_back(size_t(flat.numel() * dtype_bytes(flat.dtype)));
      download(device.stream(), out.back().data(), flat.data, int64_t(out.back().size()));
    }
    return out;
  };
  const auto scores = [&](Trainer& trainer) {
    std::vector<float> logprobs(batches[0].tokens.size()), entropies = logprobs;
    trainer.score(batches[0].view(), 1.0f, logprobs.data(), entropies.data());
    return logprobs;
  };
  Trainer whole(model, gpu_config(Stage::kOptimizer, true), nullptr);
  roughen_all(whole);
  const auto first = packed(whole);
  whole.step(batches[0].view(), supervised());
  const auto second = packed(whole);
  const std::vector<float> wanted = scores(whole);
  on_gpus(2, [&](dist::Communicator& group) {
    Trainer trainer(model, gpu_config(Stage::kParameters, true), nullptr, &group);
    roughen_all(trainer);
    EXPECT_TRUE(packed(trainer) == first);
    trainer.step(batches[0].view(), supervised());
    EXPECT_TRUE(same(scores(trainer), wanted));
    EXPECT_TRUE(packed(trainer) == second && second != first);
    EXPECT_TRUE(same(scores(trainer), wanted));
  });
}

TEST(gpus_that_were_given_other_options_or_weights_take_no_step) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  const auto said = gpu_ranks(3, {}, [&](GpuCommunicator& group, const Stream&, int rank) {
    Trainer trainer(model, gpu_config(Stage::kOptimizer, true), nullptr, &group);
    roughen_all(trainer);
    StepOptions o = supervised();
    if (rank == 1) o.lr = 0.5f;
    EXPECT_THROWS(trainer.step(batches[0].view(), o), Code::kState);
    if (rank == 2) trainer.parameters().initialize(4), trainer.parameters_changed();
    else roughen_all(trainer);
    trainer.step(batches[0].view(), supervised());
  });
  for (const std::string& text : said) EXPECT_TRUE(has(text, "STATE") && has(text, "differ from those of other ranks"));
}

TEST(a_gpu_that_goes_away_in_the_middle_of_a_step_leaves_nobody_waiting) {
  NEEDS_SHIM;
  const ModelConfig model = small();
  const std::vector<Batch> batches = drawn_batches(model);
  const auto said = gpu_ranks(2, {.breaks = 1, .breaks_at = 12}, [&](GpuCommunicator& group, const Stream&, int) {
    run(model, gpu_config(Stage::kGradients, true), supervised(), batches, &group);
  });
  for (const std::string& text : said) EXPECT_TRUE(has(text, "COLLECTIVE"));
}

}  // namespace contract_sharded_cuda_test
