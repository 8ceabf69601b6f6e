// The engine and the trainer on a GPU, or in the host shim: the guarantees of the CPU hold there too. Results
// agree with the CPU's within the rounding of bf16, and between runs on the device to the bit. Faults put
// into the code, each detected: padding rows given to a sequence; new weights stored at other addresses; a
// snapshot rewritten while an engine holds it.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>

#include "architectures.h"
#include "cuda_gradients.h"
#include "device.h"
#include "engine/engine.h"

namespace contract_cuda_test {

using namespace hone;
using namespace hone::test;
using engine::Engine;
using engine::EngineConfig;
using engine::Request;
using model::ModelConfig;
using trainer::StepOptions;
using trainer::StepReport;
using trainer::Trainer;
using trainer::TrainerConfig;

namespace {

EngineConfig engine_config(bool graphs = true) {
  EngineConfig c;
  c.max_running = 5, c.step_tokens = 10, c.pages = 64, c.max_context = 64, c.run_seed = 11;
  c.device = kCuda, c.graphs = graphs;
  return c;
}

/// Few and short requests, since in the host shim a token takes milliseconds.
std::vector<Request> some_requests(const ModelConfig& model, int count = 2) {
  std::vector<Request> out;
  for (int i = 0; i < count; ++i) {
    out.push_back(random_request(model, uint64_t(i), 12, 4));
    out.back().count = 1 + i % 2;
  }
  return out;
}

Rollouts generate(Engine& engine, const std::vector<Request>& requests) {
  for (const Request& r : requests) engine.submit(r);
  return drain(engine);
}

void expect_same(const Rollouts& a, const Rollouts& b) {
  EXPECT_EQ(a.size(), b.size());
  for (const auto& [who, rollout] : a) EXPECT_TRUE(b.count(who) == 1 && same_rollout(rollout, b.at(who)));
}

}  // namespace

TEST(masters_start_with_the_bits_of_the_cpu_and_survive_a_checkpoint) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto gpu = make_trainer(model, 3), cpu = make_trainer(model, 3, Stream::Backend::kCpu);
  const auto all = [](Trainer& t) { return values(t.parameters(), t.parameters().flat()); };
  EXPECT_TRUE(all(*gpu) == all(*cpu));
  // the Hopper variant of this test may run at the same time
  const std::string folder = std::filesystem::temp_directory_path() / ("hone-cuda-" + std::to_string(getpid()));
  gpu->save(folder, "extra");
  const auto loaded = make_trainer(model, 4, Stream::Backend::kCpu);
  EXPECT_EQ(loaded->load(folder), std::string("extra"));
  EXPECT_TRUE(all(*loaded) == all(*gpu));
  const auto back = make_trainer(model, 5);
  back->load(folder);
  EXPECT_TRUE(all(*back) == all(*gpu));
  std::filesystem::remove_all(folder);
}

TEST(a_request_gets_the_same_bits_alone_and_in_a_batch_with_and_without_graphs) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto trainer = make_trainer(model, 3);
  const std::vector<Request> requests = some_requests(model, 3);
  Engine together(model, engine_config(), nullptr), eager(model, engine_config(false), nullptr);
  together.set_weights(trainer->snapshot());
  eager.set_weights(trainer->snapshot());
  const Rollouts all = generate(together, requests);
  expect_same(all, generate(eager, requests));
  Engine alone(model, engine_config(), nullptr);
  alone.set_weights(trainer->snapshot());
  Rollouts one_by_one;
  for (const Request& r : requests) one_by_one.merge(generate(alone, {r}));
  expect_same(all, one_by_one);
}

TEST(rollouts_of_a_group_that_share_their_prompts_pages_have_the_bits_of_each_alone) {
  NEEDS_DEVICE;
  ModelConfig model = small_gpu_decoder();
  model.layers = 1;
  const auto trainer = make_trainer(model, 3);
  EngineConfig config = engine_config();
  config.step_tokens = 80, config.max_context = 96;
  Request group = random_request(model, 0, 12, 4);
  group.prompt.resize(70);  // its first four pages of 16 fill a tile of 64 keys
  for (int32_t& id : group.prompt) id = int32_t(random_int(0, model.vocabulary - 1));
  group.max_tokens = 3, group.count = 3;
  Engine together(model, config, nullptr);
  together.set_weights(trainer->snapshot());
  const Rollouts all = generate(together, {group});
  Rollouts one_by_one;
  for (int32_t i = 0; i < group.count; ++i) {
    Engine alone(model, config, nullptr);
    alone.set_weights(trainer->snapshot());
    Request one = group;
    one.count = 1, one.first_attempt = group.first_attempt + uint32_t(i);
    one_by_one[{0, i}] = generate(alone, {one}).at({0, 0});
  }
  expect_same(all, one_by_one);
}

TEST(weights_taken_in_place_are_those_of_a_fresh_engine_graphs_included) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto first = make_trainer(model, 3), second = make_trainer(model, 8);
  second->set_version(1);
  const std::vector<Request> requests = some_requests(model);
  Engine swapped(model, engine_config(), nullptr), fresh(model, engine_config(), nullptr);
  swapped.set_weights(first->snapshot());
  const Rollouts before = generate(swapped, requests);  // this first run records the graphs
  swapped.set_weights(second->snapshot());
  fresh.set_weights(second->snapshot());
  const Rollouts after = generate(swapped, requests);
  expect_same(after, generate(fresh, requests));
  EXPECT_EQ(after.begin()->second.versions.front(), 1u);
  EXPECT_TRUE(before.begin()->second.logprobs != after.begin()->second.logprobs);
}

TEST(a_trainer_may_rewrite_its_weights_while_an_engine_samples_with_the_older) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto trainer = make_trainer(model, 3);
  const std::vector<Request> requests = some_requests(model);
  Engine engine(model, engine_config(), nullptr);
  auto held = trainer->snapshot();
  engine.set_weights(held);
  const Rollouts before = generate(engine, requests);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised, o.lr = 0.05f;
  trainer->step(some_batch(model).view(), o);
  EXPECT_TRUE(trainer->snapshot() != held);  // the old snapshot is held, so the step wrote a new one
  held.reset();
  trainer->step(some_batch(model).view(), o);
  expect_same(before, generate(engine, requests));
}

TEST(aborts_stop_ids_and_bad_weights_are_treated_as_on_the_cpu) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto trainer = make_trainer(model, 3);
  Engine engine(model, engine_config(), nullptr);
  engine.set_weights(trainer->snapshot());
  std::vector<Request> requests = some_requests(model, 2);
  const Rollouts free = generate(engine, requests);
  requests[0].stop_ids = {free.at({0, 0}).tokens[1]};
  for (const Request& r : requests) engine.submit(r);
  engine.abort(1);
  const Rollouts stopped = drain(engine);
  EXPECT_TRUE(stopped.at({0, 0}).finish == engine::Finish::kEos || stopped.at({0, 0}).finish == engine::Finish::kStop);
  EXPECT_TRUE(stopped.at({0, 0}).tokens.size() <= 2);
  EXPECT_TRUE(stopped.at({1, 0}).finish == engine::Finish::kAbort);

  trainer->parameters().write(trainer->parameters().final_norm(), [](const TensorView& host) {
    std::fill_n(host.as<float>(), host.numel(), std::numeric_limits<float>::quiet_NaN());
  });
  trainer->parameters_changed();
  trainer->set_version(1);
  engine.set_weights(trainer->snapshot());
  engine.submit(requests[0]);
  engine::StepOutput out;
  EXPECT_THROWS(while (engine.step(out)) {}, Code::kNonFinite);  // a long prompt needs several steps until it throws
}

TEST(soft_caps_heads_and_experts_that_a_gpu_has_no_kernels_for_are_refused_by_name) {
  NEEDS_DEVICE;
  ModelConfig gemma2 = small_gpu_decoder(), logits = gemma2, wide = gemma2, sizes = gemma2;
  sizes.sliding_window = 4, sizes.sliding_layers.assign(size_t(sizes.layers), true), sizes.sliding_layers.back() = false;
  sizes.full_head_dim = 2 * sizes.head_dim, sizes.full_kv_heads = sizes.kv_heads;
  gemma2.attention_softcap = 50.0f, logits.logit_softcap = 30.0f, wide.head_dim = 264;
  const ModelConfig mixture = architecture_config("qwen3_moe");
  ModelConfig many = mixture, narrow = mixture;
  many.experts.count = 1032, narrow.experts.width = 20;
  const std::pair<ModelConfig, const char*> cases[] = {{many, "has more than 1024 experts in a layer, which only the CPU's kernels have"},
                                                       {narrow, "moe_intermediate_size is 20; on a GPU it must be a multiple of 8"},
                                                       {gemma2, "has capped attention scores, which only the CPU's kernels have"},
                                                       {logits, "has capped logits, which only the CPU's kernels have"},
                                                       {sizes, "has heads of two sizes, which only the CPU's kernels have"},
                                                       {wide, "head_dim is 264; the GPU attention takes at most 256"}};
  for (const auto& [model, told] : cases) {
    for (const bool trains : {false, true}) {
      std::string message;
      try {
        if (trains) make_trainer(model, 1);
        else Engine(model, engine_config(), nullptr);
      } catch (const Error& error) {
        if (error.code() == Code::kUnsupported) message = error.what();
      }
      if (message.find(told) == std::string::npos) report(__FILE__, __LINE__, std::string("not told \"") + told + "\" but \"" + message + '"');
    }
  }
}

TEST(what_a_gpu_cannot_do_is_refused_by_name) {
  NEEDS_DEVICE;
  ModelConfig model = small_gpu_decoder();
  model.mlp_width = 52;
  EXPECT_THROWS(Engine(model, engine_config(), nullptr), Code::kUnsupported);
  EXPECT_THROWS(make_trainer(model, 1), Code::kUnsupported);
  const auto cpu = make_trainer(small_gpu_decoder(), 1, Stream::Backend::kCpu);
  Engine engine(small_gpu_decoder(), engine_config(), nullptr);
  EXPECT_THROWS((engine.set_weights(cpu->snapshot()), generate(engine, some_requests(model, 1))), Code::kConfig);
}

TEST(gradients_are_the_cpus_within_the_rounding_of_bf16) {
  NEEDS_DEVICE;
  for (const bool decorated : {false, true}) expect_gradients_of_the_cpu(decorated ? "qwen3" : "llama", small_gpu_decoder(decorated));
  for (const auto& [name, model] : architecture_configs()) {
    if (!model.mixes()) expect_gradients_of_the_cpu(name, model);  // mixtures: mixture_cuda.test.cc
  }
  expect_gradients_of_the_cpu("gemma3 with heads of 256", wide_heads_config());
}

TEST(a_step_is_the_same_bits_twice_and_clips_where_the_norm_is) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const Batch batch = some_batch(model);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised, o.lr = 0.01f;
  std::vector<std::vector<float>> after;
  for (const int round : {0, 1}) {
    (void)round;
    const auto trainer = make_trainer(model, 3, kCuda, 0.5f);
    const StepReport report = trainer->step(batch.view(), o);
    EXPECT_TRUE(report.grad_norm > 0.5);
    EXPECT_NEAR(report.grad_scale, 0.5 / report.grad_norm, 1e-5);
    EXPECT_TRUE(report.update_norm > 0 && report.weight_norm > 0 && !report.skipped);
    after.push_back(values(trainer->parameters(), trainer->parameters().flat()));
    EXPECT_NEAR(report.weight_norm, norm(after.back()), 1e-6 * report.weight_norm);
  }
  EXPECT_TRUE(after[0] == after[1]);
}

TEST(gradients_of_parts_add_up_to_the_step_after_them_which_has_the_bits_of_one_alone) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const Batch batch = some_batch(model);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised, o.lr = 0.01f;
  const auto measured = make_trainer(model, 3), plain = make_trainer(model, 3);
  const std::vector<int32_t> part_of{1, 0, 1};
  const trainer::GradientParts got = measured->gradient_parts(batch.view(), o, part_of.data(), 2);
  const std::vector<float> last = values(measured->gradients(), measured->gradients().flat());
  const StepReport a = measured->step(batch.view(), o), b = plain->step(batch.view(), o);
  const auto after = values(measured->parameters(), measured->parameters().flat());
  EXPECT_TRUE(a.grad_norm == b.grad_norm && after == values(plain->parameters(), plain->parameters().flat()));
  std::vector<float> first = values(measured->gradients(), measured->gradients().flat());
  for (size_t i = 0; i < first.size(); ++i) first[i] -= last[i];
  // f64 sums, as for the norm, but in another order
  EXPECT_NEAR(got.products[3] / (norm(last) * norm(last)), 1.0, 1e-6);
  // Slopes and activations are bf16, so the sums of a part are rounded where those of the whole are not.
  EXPECT_NEAR(std::sqrt(got.products[0]) / norm(first), 1.0, 0.036);
  EXPECT_NEAR((got.products[0] + 2 * got.products[1] + got.products[3]) / (b.grad_norm * b.grad_norm), 1.0, 0.036);
}

TEST(muon_has_its_own_rate_and_leaves_the_embedding_to_adamw) {
  NEEDS_DEVICE;
  ModelConfig model = small_gpu_decoder();
  model.layers = 1;
  TrainerConfig config;
  config.device = kCuda, config.optimizer.kind = trainer::OptimizerConfig::Kind::kMuon;
  Trainer trainer(model, config, nullptr);
  trainer.parameters().initialize(3);
  model::Parameters start(model);
  start.initialize(3);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised, o.lr = 0.0f, o.muon_lr = 0.1f;
  trainer.step(some_batch(model).view(), o);
  for (const model::TensorSpec& spec : start.specs()) {
    const bool same = values(trainer.parameters(), trainer.parameters().view(spec)) == values(start, start.view(spec));
    if (same == spec.matrix) report(__FILE__, __LINE__, spec.name);
  }
}

TEST(a_sentence_is_learnt_by_heart) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto trainer = make_trainer(model, 3);
  Batch batch;
  batch.add({1, 7, 3, 9, 2, 8}, 1, 1.0f, 1);
  StepOptions o;
  o.objective = kernels::Objective::kSupervised, o.lr = 0.01f;
  const double before = trainer->step(batch.view(), o).loss;
  for (int i = 0; i < 5; ++i) trainer->step(batch.view(), o);
  const double after = trainer->step(batch.view(), o).loss;
  EXPECT_TRUE(before > 2.0 && after < 0.5 * before);
  EXPECT_EQ(trainer->version(), 7u);
}

TEST(a_step_that_is_not_finite_changes_nothing_and_names_the_sequence) {
  NEEDS_DEVICE;
  const ModelConfig model = small_gpu_decoder();
  const auto trainer = make_trainer(model, 3);
  Batch batch = some_batch(model);
  batch.behavior.assign(batch.tokens.size(), -4.0f);
  // the last token of sequence 1
  batch.behavior[size_t(batch.cu_seqlens[2]) - 1] = -std::numeric_limits<float>::infinity();
  batch.advantages[1] = -1.0f;  // with a negative advantage an infinite ratio is not clipped
  const auto before = values(trainer->parameters(), trainer->parameters().flat());
  StepOptions o;
  o.lr = 0.01f;
  const StepReport report = trainer->step(batch.view(), o);
  EXPECT_TRUE(report.skipped);
  EXPECT_EQ(report.non_finite_sequence, 1);
  EXPECT_TRUE(before == values(trainer->parameters(), trainer->parameters().flat()));
  EXPECT_EQ(trainer->version(), 0u);
}

}  // namespace contract_cuda_test
