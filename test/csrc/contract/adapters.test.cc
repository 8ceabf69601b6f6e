// LoRA adapters in engine and trainer: both use W + s B A, and only A and B are trained. Gradients are
// compared with central differences of an f64 model with merged weights; engine and trainer bit for bit.
// test/native/lora-goldens.test.ts compares with PyTorch. Mutation tests: test/mutants/csrc-{model,trainer}.json.
#include <cstring>
#include <filesystem>
#include <utility>

#include "adapter_parts.h"
#include "architectures.h"
#include "check.h"
#include "cuda_trainer.h"
#include "engine_trainer.h"
#include "model/goldens.h"
#include "model/hf_loader.h"
#include "trainer/reference_loss.h"

namespace contract_adapters_test {
namespace {

using namespace hone;
using test::Batch;
using trainer::StepOptions;
using trainer::Trainer;
using trainer::TrainerConfig;

TrainerConfig adapted(int64_t rank, float alpha, std::vector<std::string> targets = {"all-linear"}) {
  TrainerConfig config;
  config.packed_tokens = 14;
  config.adapters = {rank, alpha, std::move(targets), 5};
  return config;
}

/// Puts adapters on every matrix that may have them; in mixtures of experts the shared experts may not.
TrainerConfig adapted_whole(const model::ModelConfig& model, int64_t rank, float alpha) {
  if (!model.mixes()) return adapted(rank, alpha);
  if (model.arch == "lfm2_moe") return adapted(rank, alpha, {"q_proj", "k_proj", "v_proj", "in_proj", "out_proj", "experts"});
  std::vector<std::string> targets{"q_proj", "k_proj", "v_proj", "o_proj", "experts"}, linear{"in_proj_qkv", "in_proj_z", "in_proj_b", "in_proj_a", "out_proj"};
  if (model.delta_by_head) linear = {"in_proj_qkvz", "in_proj_ba", "out_proj"};
  else if (model.arch == "nemotron_h") linear = {"in_proj"};
  else if (model.delta.mamba) linear = {"in_proj", "out_proj"};
  if (model.is_hybrid()) targets.insert(targets.end(), linear.begin(), linear.end());
  return adapted(rank, alpha, std::move(targets));
}

/// Models that the f64 reference model lacks: with layers of gated DeltaNet, Mamba-2 or short convolution, and mixtures.
std::vector<std::pair<std::string, model::ModelConfig>> hybrids() {
  std::vector<std::pair<std::string, model::ModelConfig>> all{{"hybrid", test::hybrid_config()}, {"hybrid, attention in the middle", test::hybrid_config(false)},
          {"short convolutions", test::convolution_config()}, {"Mamba-2", test::mamba_config()}, {"Mamba-2 mixture", test::mamba_config(true)}, {"Mamba-2 beside attention", test::beside_config()}, {"one half a layer", test::halves_config()}, {"one half a layer, experts", test::halves_config(true)}, {"hybrid mixture", test::hybrid_mixture_config()}, {"hybrid mixture by head", test::hybrid_mixture_config(true)}};
  for (const auto& mixture : test::mixture_configs()) all.push_back(mixture);
  return all;
}

std::vector<std::pair<std::string, model::ModelConfig>> all_models() {
  auto all = test::architecture_configs();
  for (const auto& [name, config] : test::switch_configs()) all.emplace_back(name, config);
  return all;
}

/// Sets random weights, and B different from 0, so that A has a gradient.
void fill(Trainer& trainer, float b = 0.1f) {
  test::roughen(trainer.parameters(), 3);
  if (trainer.trained().specs().size() != trainer.parameters().specs().size()) {
    for (const model::TensorSpec& spec : trainer.trained().specs()) {
      if (!spec.name.ends_with("lora_B.weight")) continue;
      trainer.trained().write(trainer.trained().view(spec), [&](const TensorView& host) {
        for (int64_t i = 0; i < spec.numel(); ++i) host.as<float>()[i] = b * std::sin(float(7 * i + 1));
      });
    }
  }
  trainer.parameters_changed();
}

// ---- weights W + s B A ----------------------------------------------------------------------------------

void check_gradients(const std::string& name, const model::ModelConfig& model, const TrainerConfig& config) {
  Trainer trainer(model, config, nullptr);
  fill(trainer);
  test::Reference reference = test::merged(trainer, config.adapters);
  Batch batch = test::some_batch(model);
  test::add_logprobs(batch, reference, 1.0);
  StepOptions o;
  o.clip_low = o.clip_high = 0.5f, o.entropy_coef = 0.2f;
  const trainer::StepReport report = trainer.step(batch.view(), o);
  EXPECT_NEAR(report.loss, test::reference_loss(reference, batch, o), 2e-5);
  double square = 0.0, checked = 0.0;
  int jumps = 0;
  for (const model::TensorSpec& spec : trainer.trained().specs()) {
    const float* gradient = trainer.gradients().view(spec).as<float>();
    float* values = trainer.trained().view(spec).as<float>();
    double largest = 0.0;
    for (int64_t i = 0; i < spec.numel(); ++i) {
      square += double(gradient[i]) * gradient[i];
      largest = std::max(largest, std::fabs(double(gradient[i])));
    }
    const auto i = test::random_int(0, spec.numel() - 1);
    const auto loss_with = [&](float x) {
      const float kept = std::exchange(values[i], x);
      const test::Reference moved = test::merged(trainer, config.adapters);
      values[i] = kept;
      return test::reference_loss(moved, batch, o);
    };
    const auto difference = [&](float step) {
      const float up = values[i] + step, down = values[i] - step;
      return (loss_with(up) - loss_with(down)) / (double(up) - double(down));
    };
    const double wanted = difference(1e-3f);
    // Where the difference's step changes a token's experts the loss jumps; half the step doubles the slope.
    if (model.mixes() && std::fabs(wanted) > 1.0 && std::fabs(difference(5e-4f) / wanted - 1.0) > 0.5) {
      EXPECT_TRUE(++jumps <= 2);
      continue;
    }
    checked = std::max(checked, std::fabs(wanted));
    // The tolerance includes the error of a central difference: third derivative times square of the step.
    if (std::fabs(double(gradient[i]) - wanted) > 3e-6 + 3e-4 * largest) {
      test::report(__FILE__, __LINE__, name + ": d" + spec.name + " is " + test::show(gradient[i]) + ", differences give " + test::show(wanted));
    }
  }
  EXPECT_TRUE(checked > 1e-4);
  EXPECT_NEAR(report.grad_norm / std::sqrt(square), 1.0, 1e-6);
}

TEST(gradients_of_a_and_b_match_central_differences) {
  for (const auto& [name, model] : all_models()) {
    if (name == "gemma2" || name.starts_with("granite")) continue;  // not supported by the f64 reference
    check_gradients(name, model, adapted_whole(model, 3, 6.0f));
  }
  const model::ModelConfig model = test::tiny_config();
  check_gradients("two targets", model, adapted(2, 1.0f, {"v_proj", "up_proj"}));
  TrainerConfig again = adapted(4, 8.0f, {"q_proj", "down_proj"});
  again.recompute = true;
  check_gradients("recomputed", model, again);
}

/// Checks dA and dB by the chain rule from the gradient of W', which a trainer of all weights computes.
void check_chain_rule(const std::string& name, const model::ModelConfig& model, const TrainerConfig& config) {
  TrainerConfig plain = config;
  plain.adapters = {};
  Trainer trainer(model, config, nullptr), whole(model, plain, nullptr);
  fill(trainer);
  const test::TemporaryFolder folder("adapters");
  trainer.save_model(folder / "merged");
  model::load_hf_weights(folder / "merged", whole.parameters());
  whole.parameters_changed();
  Batch batch = test::some_batch(model);
  batch.behavior.assign(batch.tokens.size(), -3.0f);
  StepOptions o;
  o.objective = kernels::Objective::kReinforce, o.lr = 0.0f;
  trainer.step(batch.view(), o), whole.step(batch.view(), o);
  const model::TensorBlock& block = trainer.trained();
  for (size_t i = 0; i < block.specs().size(); i += 2) {
    const model::TensorSpec &a = block.specs()[i], &b = block.specs()[i + 1];
    const float *pa = block.view(a).as<float>(), *pb = block.view(b).as<float>();
    const int64_t r = config.adapters.rank;
    const double s = double(config.adapters.alpha) / double(r);
    std::vector<double> da(size_t(a.numel()), 0.0), db(size_t(b.numel()), 0.0);
    for (const test::AdapterPart& part : test::adapter_parts(model, a, b)) {
      const float* dw = whole.gradients().view(part.tensor).as<float>();
      for (int64_t row = 0; row < part.n; ++row) {
        for (int64_t c = 0; c < part.k; ++c) {
          const double d = s * double(dw[part.index(row, c)]);
          for (int64_t j = 0; j < r; ++j) {
            da[size_t(part.a(j, c, r))] += double(pb[part.b(row, j, r)]) * d;
            db[size_t(part.b(row, j, r))] += double(pa[part.a(j, c, r)]) * d;
          }
        }
      }
    }
    double off = 0.0, largest = 0.0;
    const auto compare = [&](const model::TensorSpec& spec, const std::vector<double>& wanted) {
      const float* found = trainer.gradients().view(spec).as<float>();
      for (size_t at = 0; at < wanted.size(); ++at) off = std::max(off, std::fabs(double(found[at]) - wanted[at])), largest = std::max(largest, std::fabs(wanted[at]));
    };
    compare(a, da), compare(b, db);
    const std::string& matrix = a.name;
    if (!(largest > 0.0) || off > 1e-6 + 1e-4 * largest) test::report(__FILE__, __LINE__, name + ": the gradient of " + matrix + " is off by " + test::show(off) + " of " + test::show(largest));
  }
}

TEST(gradients_of_the_adapters_of_experts_are_those_of_their_matrices) {
  for (const auto& [name, model] : test::switch_configs()) {
    if (!model.mixes()) continue;
    TrainerConfig config = adapted(3, 6.0f, {"experts"});
    check_chain_rule(name, model, config);
    config.packed_tokens = 100000;
    check_chain_rule(std::string(name) + ", packed together", model, config);
  }
}

TEST(gradients_of_a_and_b_in_hybrids_are_those_of_their_matrices) {
  for (const auto& [name, model] : hybrids()) {
    TrainerConfig config = adapted_whole(model, 3, 6.0f);
    check_chain_rule(name, model, config);
    config.recompute = true;
    check_chain_rule(name + ", recomputed", model, config);
  }
  check_chain_rule("two targets", test::hybrid_config(), adapted(2, 1.0f, {"in_proj_a", "o_proj"}));
}

// ---- equal bits ------------------------------------------------------------------------------------------

/// Trains the adapters for `steps` steps, and returns the log-probs that the batch then has.
std::vector<float> train(Trainer& trainer, const Batch& given, int steps) {
  Batch batch = given;
  batch.behavior.assign(batch.tokens.size(), -3.0f);
  StepOptions o;
  o.objective = kernels::Objective::kReinforce, o.lr = 3e-2f;
  for (int s = 0; s < steps; ++s) trainer.step(batch.view(), o);
  std::vector<float> logprobs(batch.tokens.size()), entropies(batch.tokens.size());
  trainer.score(batch.view(), 1.0f, logprobs.data(), entropies.data());
  return logprobs;
}

bool same(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && test::same_bits(a.data(), b.data(), int64_t(a.size()));
}

TEST(fresh_adapters_change_no_bit) {
  auto models = all_models();
  for (const auto& row : hybrids()) models.push_back(row);
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const auto& [name, model] : models) {
      TrainerConfig with = adapted_whole(model, 4, 8.0f), without;
      with.weight_storage = without.weight_storage = storage;
      Trainer a(model, with, nullptr), b(model, without, nullptr);
      test::roughen(a.parameters(), 3), test::roughen(b.parameters(), 3);
      a.parameters_changed(), b.parameters_changed();
      const Batch batch = test::some_batch(model);
      const auto left = a.snapshot(), right = b.snapshot();
      const auto equal = [](const kernels::PackedMatrix& x, const kernels::PackedMatrix& y) {
        return (x.n == 0 && y.n == 0) || std::memcmp(x.panels, y.panels, size_t(kernels::packed_bytes(Stream{}, x.n, x.k, x.storage))) == 0;
      };
      for (size_t l = 0; l < left->layers.size(); ++l) {
        const auto &x = left->layers[l], &y = right->layers[l];
        EXPECT_TRUE(equal(x.qkv, y.qkv) && equal(x.o, y.o) && equal(x.gate_up, y.gate_up) && equal(x.down, y.down));
        for (size_t e = 0; e < x.experts_down.size(); ++e) EXPECT_TRUE(equal(x.experts_gate_up[e], y.experts_gate_up[e]) && equal(x.experts_down[e], y.experts_down[e]));
      }
      EXPECT_TRUE(same(train(a, batch, 0), train(b, batch, 0)));
    }
  }
}

void compare_engine(const model::ModelConfig& model, TrainerConfig config, DType storage, Stream::Backend device) {
  config.weight_storage = storage, config.device = device, config.deterministic = true;
  Trainer trainer(model, config, nullptr);
  trainer.parameters().initialize(4);
  test::scale_head(trainer.parameters());
  if (storage == DType::kBF16) test::round_to_bf16(trainer.parameters());
  trainer.parameters_changed();
  const Batch batch = test::some_batch(model);
  const std::vector<float> before = train(trainer, batch, 0), after = train(trainer, batch, 3);
  EXPECT_TRUE(!same(before, after));
  test::Case c;
  c.model = model, c.storage = storage, c.device = device, c.engine = test::engine_config(8, 32);
  c.engine.max_context = 64;
  c.requests = 4, c.longest_prompt = 12, c.most_tokens = 8;
  int64_t preemptions = 0;
  const test::Packed packed = test::generate(c, trainer.snapshot(), nullptr, preemptions);
  trainer::TrainingBatch b;
  b.tokens = packed.tokens.data(), b.cu_seqlens = packed.cu_seqlens.data(), b.mask = packed.mask.data();
  b.sequences = int64_t(packed.cu_seqlens.size()) - 1;
  std::vector<float> logprobs(packed.tokens.size()), entropies(packed.tokens.size());
  trainer.score(b, 1.0f, logprobs.data(), entropies.data());
  EXPECT_TRUE(same(logprobs, packed.logprobs));
}

TEST(engine_equals_trainer_after_steps_of_adapters) {
  for (const DType storage : {DType::kF32, DType::kBF16}) {
    for (const auto& [name, model] : test::architecture_configs()) compare_engine(model, adapted_whole(model, 8, 16.0f), storage, Stream::Backend::kCpu);
    for (const auto& [name, model] : hybrids()) compare_engine(model, adapted_whole(model, 8, 16.0f), storage, Stream::Backend::kCpu);
  }
}

TEST(engine_equals_trainer_after_steps_of_adapters_on_a_gpu) {
  NEEDS_DEVICE;
  compare_engine(test::architecture_config("phi3"), adapted(8, 16.0f), DType::kBF16, test::kCuda), compare_engine(test::architecture_config("qwen3_moe"), adapted(8, 16.0f, {"q_proj", "k_proj", "v_proj", "o_proj"}), DType::kBF16, test::kCuda);
  compare_engine(test::gpu_hybrid_config(), adapted(8, 16.0f), DType::kBF16, test::kCuda);
}

TEST(a_step_of_adapters_is_the_same_on_any_number_of_threads_and_leaves_the_base) {
  const model::ModelConfig model = test::tiny_config();
  const Batch batch = test::some_batch(model);
  std::vector<float> first;
  for (const int threads : {1, 3}) {
    ThreadPool pool(threads);
    Trainer trainer(model, adapted(4, 8.0f), &pool);
    fill(trainer);
    const std::vector<float> base = test::values(trainer.parameters(), trainer.parameters().flat());
    train(trainer, batch, 4);
    EXPECT_TRUE(same(base, test::values(trainer.parameters(), trainer.parameters().flat())));
    const std::vector<float> now = test::values(trainer.trained(), trainer.trained().flat());
    if (first.empty()) first = now;
    EXPECT_TRUE(same(first, now));
  }
}

// ---- checkpoint folders ----------------------------------------------------------------------------------

/// Returns log-probs of two steps and the adapters after them. The base is bf16; with `widened` it becomes
/// f32 before each step.
std::vector<float> steps_on_bf16(const model::ModelConfig& model, const TrainerConfig& config, const Batch& batch, bool widened) {
  Trainer trainer(model, config, nullptr);
  fill(trainer);
  const int64_t before = Arena::live_bytes(Memory::kHost), n = trainer.parameters().flat().numel();
  test::round_to_bf16(trainer.parameters());
  trainer.parameters_changed();
  EXPECT_EQ(before - Arena::live_bytes(Memory::kHost), Arena::rounded(4 * n) - Arena::rounded(2 * n));
  std::vector<float> out;
  for (int i = 0; i < 2; ++i) {
    if (widened) trainer.parameters();
    StepOptions o;
    o.objective = kernels::Objective::kSupervised, o.lr = 0.1f;
    for (const float logprob : trainer.step(batch.view(), o).logprobs) out.push_back(logprob);
    EXPECT_EQ(trainer.snapshot()->ends == DType::kF32, widened);  // embedding and head
  }
  const TensorView trained = trainer.trained().flat();
  out.insert(out.end(), trained.as<float>(), trained.as<float>() + trained.numel());
  return out;
}

TEST(a_base_of_bf16_is_kept_so_and_gives_the_bits_of_one_in_f32) {
  for (const auto& [name, model] : test::switch_configs()) {
    for (const DType storage : {DType::kF32, DType::kBF16}) {
      TrainerConfig config = adapted_whole(model, 2, 4.0f);
      config.weight_storage = storage;
      const Batch batch = test::some_batch(model);
      EXPECT_TRUE(same(steps_on_bf16(model, config, batch, false), steps_on_bf16(model, config, batch, true)));
    }
  }
}

TEST(a_checkpoint_of_adapters_goes_on_with_the_same_bits) {
  const model::ModelConfig model = test::tiny_config();
  const Batch batch = test::some_batch(model);
  const test::TemporaryFolder scratch("adapters");
  const std::string folder = scratch / "checkpoint";
  Trainer whole(model, adapted(4, 8.0f), nullptr), resumed(model, adapted(4, 8.0f), nullptr);
  fill(whole, 0.0f);
  test::roughen(resumed.parameters(), 3);
  resumed.parameters_changed();
  train(whole, batch, 2);
  whole.save(folder, "{}");
  EXPECT_TRUE(!std::filesystem::exists(folder + "/model.safetensors"));
  const std::vector<float> wanted = train(whole, batch, 2);
  resumed.load(folder);
  EXPECT_EQ(resumed.version(), 2u);
  EXPECT_TRUE(same(wanted, train(resumed, batch, 2)));

  Trainer other(model, adapted(4, 4.0f), nullptr), plain(model, TrainerConfig{}, nullptr);
  EXPECT_THROWS(other.load(folder), Code::kConfig);
  EXPECT_THROWS(plain.load(folder), Code::kConfig);
  plain.save(folder + "-plain", "{}");
  EXPECT_THROWS(resumed.load(folder + "-plain"), Code::kConfig);
  EXPECT_THROWS(plain.load_adapters(folder), Code::kConfig);
}

TEST(a_merged_model_has_the_bits_of_the_adapted_one_and_a_folder_of_adapters_is_a_start) {
  const std::pair<DType, model::ModelConfig> cases[] = {
      {DType::kF32, test::tiny_config()}, {DType::kBF16, test::tiny_config()}, {DType::kF32, test::hybrid_config()}, {DType::kBF16, test::hybrid_mixture_config(true)}};
  for (const auto& [storage, model] : cases) {
    const Batch batch = test::some_batch(model);
    const test::TemporaryFolder folder("adapters");
    TrainerConfig config = adapted_whole(model, 4, 8.0f), plain;
    config.weight_storage = plain.weight_storage = storage;
    Trainer trainer(model, config, nullptr), whole(model, plain, nullptr), again(model, config, nullptr);
    fill(trainer, 0.0f);
    const std::vector<float> wanted = train(trainer, batch, 3);
    trainer.save_model(folder / "merged");
    model::load_hf_weights(folder / "merged", whole.parameters());
    whole.parameters_changed();
    EXPECT_TRUE(same(wanted, train(whole, batch, 0)));
    trainer.save(folder / "adapters", "{}");
    test::roughen(again.parameters(), 3);
    again.parameters_changed();
    again.load_adapters(folder / "adapters");
    EXPECT_TRUE(same(wanted, train(again, batch, 0)));
    TrainerConfig thin = config;
    thin.adapters.rank = 2;
    Trainer narrow(model, thin, nullptr), fewer(model, adapted(4, 8.0f, {"q_proj"}), nullptr);
    EXPECT_THROWS(narrow.load_adapters(folder / "adapters"), Code::kConfig);
    EXPECT_THROWS(fewer.load_adapters(folder / "adapters"), Code::kFormat);
  }
}

}  // namespace
}  // namespace contract_adapters_test
