// Whole models with random weights on a GPU, without Node (`hone bench` measures the same through the addon): an
// engine's decode step at batch 1 to 256, and a training step over 16384 packed tokens, in Qwen3's shapes. The floor of
// a decode step is the time to read all weights and each sequence's keys and values. Uses wgmma where available,
// mma.sync with HONE_CUDA_PORTABLE=1. `--json` prints lines of JSON, a word selects rows by name, `--smoke` takes a
// small model.
#include <chrono>

#include "engine/engine.h"
#include "kernels/cuda/matmul.h"
#include "report.h"
#include "trainer/trainer.h"

using namespace hone;
using bench::Report;

namespace {

struct Shape {
  const char* name;
  int64_t width, layers, heads, kv_heads, head_dim, mlp, vocabulary;
  bool tied;
  double training_target;  // share of the floor: model FLOP at the highest clock; 0: none
};
const Shape kShapes[] = {{"0.6B", 1024, 28, 16, 8, 128, 3072, 151936, true, 0.5},
                         {"4B", 2560, 36, 32, 8, 128, 9728, 151936, true, 0.5},
                         {"8B", 4096, 36, 32, 8, 128, 12288, 151936, false, 0}};
const Shape kSmoke{"smoke", 64, 2, 4, 2, 16, 192, 500, true, 0};

struct Sizes {
  int32_t prompt, output;
  std::vector<int32_t> batches;
  int64_t sequences, length;  // sizes of a training step
};

model::ModelConfig config_of(const Shape& s) {
  model::ModelConfig c;
  c.arch = "qwen3", c.qk_norm = true, c.norm_eps = 1e-6f, c.rope.theta = 1e6;
  c.width = s.width, c.layers = s.layers, c.heads = s.heads, c.kv_heads = s.kv_heads, c.head_dim = s.head_dim;
  c.mlp_width = s.mlp, c.vocabulary = s.vocabulary, c.tied_head = s.tied, c.max_positions = 8192;
  return c;
}
double layer_weights(const Shape& s) {
  const double q = double(s.heads * s.head_dim), kv = double(s.kv_heads * s.head_dim);
  return double(s.layers) * double(s.width) * (2 * q + 2 * kv + 3 * double(s.mlp));
}
double head_weights(const Shape& s) { return double(s.width) * double(s.vocabulary); }
const char* way() { return kernels::cuda::has_wgmma() ? ", wgmma" : ", mma.sync"; }

/// Fills matrices with values of a few hundredths and norms with 1, by blocks on the device: drawing 8 billion one by
/// one takes minutes.
void fill(const Stream& stream, model::Parameters& parameters) {
  for (const model::TensorSpec& spec : parameters.specs()) {
    const TensorView view = parameters.view(spec);
    if (spec.shape.size() > 1) bench::fill_random(stream, view.as<float>(), view.numel(), 0.03f);
    else parameters.write(view, [](const TensorView& host) { std::fill_n(host.as<float>(), host.numel(), 1.0f); });
  }
}

/// The median of the steps in which every sequence decodes, by the host's clock: a step ends when its tokens are on the
/// host.
void generate(Report& report, const Shape& s, const Sizes& sizes, engine::Engine& engine, int32_t batch) {
  static uint64_t next_id = 1;
  const std::string name = std::string("generate ") + s.name + ", batch " + std::to_string(batch) + way();
  if (!report.wants(name)) return;
  for (int32_t b = 0; b < batch; ++b) {
    engine::Request request;
    request.id = next_id++, request.max_tokens = sizes.output;
    for (int32_t i = 0; i < sizes.prompt; ++i) request.prompt.push_back(int32_t((i * 7919 + b * 104729) % s.vocabulary));
    engine.submit(std::move(request));
  }
  engine::StepOutput out;
  std::vector<double> times;
  int64_t prefilled = -1;
  for (;;) {
    const auto begin = std::chrono::steady_clock::now();
    if (!engine.step(out)) break;
    const double us = std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
    const int64_t now = engine.stats().prefill_tokens;
    if (int64_t(out.token.size()) == batch && now == prefilled) times.push_back(us);
    prefilled = now;
  }
  if (times.empty()) fail(Code::kInternal, "no step decoded %d sequences.", batch);
  std::nth_element(times.begin(), times.begin() + int64_t(times.size() / 2), times.end());
  const double context = sizes.prompt + sizes.output / 2.0, weights = layer_weights(s) + head_weights(s);
  const double cache = context * double(2 * s.layers * s.kv_heads * s.head_dim) * 2;
  const double bytes = 2 * layer_weights(s) + (s.tied ? 2 : 4) * head_weights(s) + batch * cache;
  report.add({.name = name, .flops = 2 * batch * weights, .bytes = bytes, .target_of_floor = batch < 8 ? 0.6 : 0.8,
              .tokens = double(batch)},
             times[times.size() / 2]);
}

/// 6 FLOP a weight and token, and 6 a token, average key (half a sequence), head and dimension; layers that are
/// computed twice count once.
void train(Report& report, const Shape& s, const Sizes& sizes, trainer::Trainer& trainer, bool recompute) {
  const int64_t length = sizes.length, tokens = sizes.sequences * length;
  const std::string name = std::string("train ") + s.name + ", " + std::to_string(tokens) + " tokens" +
                           (recompute ? ", recompute" : "") + way();
  if (!report.wants(name)) return;
  std::vector<int32_t> ids, starts;
  std::vector<uint8_t> mask;
  for (int64_t i = 0; i < tokens; ++i) ids.push_back(int32_t(i * 7919 % s.vocabulary)), mask.push_back(i % length != 0);
  for (int64_t i = 0; i <= sizes.sequences; ++i) starts.push_back(int32_t(i * length));
  trainer::TrainingBatch batch;
  batch.tokens = ids.data(), batch.cu_seqlens = starts.data(), batch.mask = mask.data(), batch.sequences = sizes.sequences;
  batch.step = {sizes.sequences, 1, tokens - sizes.sequences, 1.0};
  trainer::StepOptions options;
  options.objective = kernels::Objective::kSupervised, options.lr = 1e-6f;
  std::vector<double> times;
  for (int i = 0; i < (report.smoke() ? 2 : 5); ++i) {
    const auto begin = std::chrono::steady_clock::now();
    trainer.step(batch, options);
    if (i > 0) times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
  }
  std::nth_element(times.begin(), times.begin() + int64_t(times.size() / 2), times.end());
  const double attention = 6.0 * double(s.layers * s.heads * s.head_dim) * double(length);
  const double per_token = 6 * (layer_weights(s) + head_weights(s)) + attention;
  report.add({.name = name, .flops = double(tokens) * per_token, .target_of_floor = recompute ? 0.0 : s.training_target,
              .tokens = double(tokens)},
             times[times.size() / 2]);
}

/// Calls `work` with a trainer of random weights, and destroys it afterwards.
template <class Work>
void with_trainer(Report& report, const Shape& s, const Sizes& sizes, bool recompute, const Work& work) {
  trainer::TrainerConfig options;
  options.packed_tokens = sizes.sequences * sizes.length, options.device = Stream::Backend::kCuda;
  options.recompute = recompute;
  trainer::Trainer trainer(config_of(s), options, nullptr);
  fill(report.stream, trainer.parameters());
  trainer.parameters_changed();
  work(trainer);
}

void measure(Report& report, const Shape& s, const Sizes& sizes) {
  const std::string name = s.name;
  with_trainer(report, s, sizes, false, [&](trainer::Trainer& trainer) {
    report.tried("generate " + name, [&] {
      const int32_t most = sizes.batches.back(), context = sizes.prompt + sizes.output + 1;
      engine::EngineConfig c;
      c.max_running = most, c.max_context = context, c.step_tokens = std::max(512, most + 1);
      c.pages = most * ((context + 15) / 16 + 1), c.device = Stream::Backend::kCuda, c.weight_storage = DType::kBF16;
      engine::Engine engine(config_of(s), c, nullptr);
      engine.set_weights(trainer.snapshot());
      for (const int32_t batch : sizes.batches) generate(report, s, sizes, engine, batch);
    });
    report.tried("train " + name, [&] { train(report, s, sizes, trainer, false); });
  });
  report.tried("train " + name + ", recompute", [&] {
    with_trainer(report, s, sizes, true, [&](trainer::Trainer& trainer) { train(report, s, sizes, trainer, true); });
  });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run("model", bench::parse_options(argc, argv), [](Report& report) {
    if (report.smoke()) return measure(report, kSmoke, {20, 8, {1, 3}, 2, 24});
    for (const Shape& s : kShapes) {
      report.tried(s.name, [&] { measure(report, s, {128, 128, {1, 8, 64, 256}, 4, 4096}); });
    }
  });
}
