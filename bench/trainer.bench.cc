// Speed of the trainer's forward and backward as a share of the FMA peak of the same run, and what the rest of a step
// (optimizer, packing of weights) adds. `--json` prints one JSON object; `--smoke` repeats less (CI); another word
// selects rows.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "core/json.h"
#include "options.h"
#include "peak.h"
#include "trainer/trainer.h"

using namespace hone;
using trainer::OptimizerConfig;

namespace {

struct Shape {
  const char* name;
  int64_t width, layers, heads, head_dim, mlp, vocabulary;
  bool tied;
  int64_t sequences, mean_length, prompt, packed_tokens;
  OptimizerConfig::Kind optimizer;
  float entropy_coef;
  double floor;  // share of the peak of the used threads; 0: no floor
  bool recompute = false;
};
constexpr auto kAdamW = OptimizerConfig::Kind::kAdamW, kMuon = OptimizerConfig::Kind::kMuon;
const Shape kShapes[] = {
    {"d512 L8 H8 F1408 V8192", 512, 8, 8, 64, 1408, 8192, false, 4, 256, 32, 1024, kAdamW, 0, 0.5},
    {"the same, activations computed again", 512, 8, 8, 64, 1408, 8192, false, 4, 256, 32, 1024, kAdamW, 0, 0, true},
    {"quick start RL", 96, 3, 3, 32, 256, 226, true, 110, 37, 12, 4096, kAdamW, 0, 0.25},
    {"quick start RL, micro-batches of 1024", 96, 3, 3, 32, 256, 226, true, 110, 37, 12, 1024, kAdamW, 0, 0.25},
    {"quick start SFT, Muon", 96, 3, 3, 32, 256, 226, true, 64, 46, 12, 4096, kMuon, 0, 0.25},
};

model::ModelConfig config_of(const Shape& s) {
  model::ModelConfig c;
  c.vocabulary = s.vocabulary, c.width = s.width, c.layers = s.layers, c.heads = s.heads, c.kv_heads = s.heads;
  c.head_dim = s.head_dim, c.mlp_width = s.mlp, c.max_positions = 512, c.tied_head = s.tied;
  return c;
}

struct Batch {
  std::vector<int32_t> tokens, cu_seqlens{0};
  std::vector<uint8_t> mask;
  std::vector<float> behavior, advantages;
  double pairs = 0;  // (query, key) pairs
  int64_t loss_rows = 0;

  explicit Batch(const Shape& s) {
    std::mt19937 random(1);
    for (int64_t i = 0; i < s.sequences; ++i) {
      const int64_t spread = s.mean_length / 2;
      const int64_t n = s.mean_length - spread + int64_t(random() % uint32_t(2 * spread + 1));
      for (int64_t t = 0; t < n; ++t) {
        tokens.push_back(int32_t(random() % uint32_t(s.vocabulary)));
        mask.push_back(t >= s.prompt);
        loss_rows += mask.back();
      }
      cu_seqlens.push_back(int32_t(tokens.size()));
      advantages.push_back(i % 2 ? 1.0f : -1.0f);
      pairs += 0.5 * double(n) * double(n + 1);
    }
    behavior.assign(tokens.size(), -3.0f);
  }
  trainer::TrainingBatch view() const {
    trainer::TrainingBatch b;
    b.tokens = tokens.data(), b.cu_seqlens = cu_seqlens.data(), b.mask = mask.data();
    b.behavior_logprobs = behavior.data(), b.advantages = advantages.data();
    b.sequences = int64_t(advantages.size());
    b.step = {b.sequences, 1, loss_rows, 1.0};
    return b;
  }
};

/// 6 FLOP per matrix weight and row, 12 per pair, query head and head dimension. The head and all above the last
/// attention count for loss rows only; recomputed parts (the head's logits, attention scores) count once.
double useful_flops(const model::ModelConfig& c, const Batch& batch) {
  const double C = double(c.width), T = double(batch.tokens.size()), R = double(batch.loss_rows), L = double(c.layers);
  const double projections = C * double(c.qkv_width()), output = C * double(c.q_width()) + 3.0 * C * double(c.mlp_width);
  return 6.0 * (L * projections * T + output * ((L - 1.0) * T + R) + double(c.vocabulary) * C * R) +
         12.0 * batch.pairs * double(c.q_width()) * L;
}

struct Seconds {
  double gradient = 1e30, optimizer = 1e30, pack = 1e30, whole = 1e30;
  double cpu = 1e30;  // processor time of a whole step over all threads, which a busy machine changes least
};

double cpu_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

/// The shortest of several steps, phase by phase, because other processes can only add time.
Seconds measure(const Shape& shape, const Batch& batch, ThreadPool* pool, int repeats) {
  trainer::TrainerConfig options;
  options.optimizer.kind = shape.optimizer;
  options.packed_tokens = shape.packed_tokens;
  options.recompute = shape.recompute;
  trainer::Trainer trainer(config_of(shape), options, pool);
  trainer.parameters().initialize(1);
  trainer.parameters_changed();
  trainer::StepOptions o;
  o.objective = shape.optimizer == kMuon ? kernels::Objective::kSupervised : kernels::Objective::kReinforce;
  o.entropy_coef = shape.entropy_coef;
  o.lr = 1e-6f, o.muon_lr = 1e-6f;
  Seconds best;
  for (int i = 0; i < repeats + 1; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const double cpu = cpu_seconds();
    const trainer::StepReport r = trainer.step(batch.view(), o);
    if (i == 0) continue;  // the first step touches the arenas' memory
    best.cpu = std::min(best.cpu, cpu_seconds() - cpu);
    best.whole = std::min(best.whole, bench::seconds_since(start));
    best.gradient = std::min(best.gradient, r.forward_seconds + r.backward_seconds);
    best.optimizer = std::min(best.optimizer, r.optimizer_seconds);
    best.pack = std::min(best.pack, r.pack_seconds);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  const auto [json, smoke, filter] = bench::parse_options(argc, argv);
  ThreadPool pool(2);
  Json report = Json::object(), rows = Json::array();
  for (const Shape& shape : kShapes) {
    const Batch batch(shape);
    const double flops = useful_flops(config_of(shape), batch) * 1e-9;
    for (ThreadPool* threads : {static_cast<ThreadPool*>(nullptr), &pool}) {
      const Stream stream{.pool = threads};
      const std::string name = std::string(shape.name) + (threads ? ", 2 threads" : ", 1 thread");
      if (!std::strstr(name.c_str(), filter)) continue;
      const double peak = bench::peak_gflops(stream, smoke ? 2 : 40);
      const Seconds s = measure(shape, batch, threads, smoke ? 1 : int(std::clamp(300.0 / flops, 2.0, 30.0)));
      Json row = Json::object();
      row.set("name", Json::string(name));
      row.set("tokensPerSecond", Json::number(double(batch.tokens.size()) / s.whole));
      row.set("gflops", Json::number(flops / s.gradient));
      row.set("peakGflops", Json::number(peak));
      row.set("fractionOfPeak", Json::number(flops / s.gradient / peak));
      row.set("floor", Json::number(shape.floor));
      row.set("optimizerMs", Json::number(1e3 * s.optimizer));
      row.set("packMs", Json::number(1e3 * s.pack));
      row.set("stepCpuMs", Json::number(1e3 * s.cpu));
      rows.push(std::move(row));
      if (json) continue;
      std::printf("%-52s %7zu tokens %8.2f ms fwd+bwd %5.1f %% of %4.0f GFLOP/s (floor %2.0f) + optimizer %.2f + packs %.2f, step %.2f ms (cpu %.2f): %.0f tok/s\n",
                  name.c_str(), batch.tokens.size(), 1e3 * s.gradient, 100 * flops / s.gradient / peak, peak,
                  100 * shape.floor, 1e3 * s.optimizer, 1e3 * s.pack, 1e3 * s.whole, 1e3 * s.cpu, double(batch.tokens.size()) / s.whole);
    }
  }
  report.set("isa", Json::string(kernels::cpu::isa_name(kernels::cpu::isa())));
  report.set("rows", std::move(rows));
  if (json) std::printf("%s\n", report.dump().c_str());
}
