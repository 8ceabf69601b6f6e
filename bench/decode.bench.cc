// Decoding speed of the engine, scheduler and paging included, as a share of the FMA peak of the same run, with
// weights, keys and values stored as f32 and as bf16 (arithmetic is f32). Random Llama-shaped models; every sequence
// runs from an empty context to kTokens, so that the context averages half of that. `--json` prints one JSON object;
// `--smoke` makes short runs; another word selects rows.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "core/json.h"
#include "engine/engine.h"
#include "options.h"
#include "peak.h"

using namespace hone;
using bench::seconds_since;

namespace {

struct Shape {
  const char* name;
  int64_t width, layers, heads, mlp, vocabulary;
  double floor;  // share of one core's FMA peak at batch 32; 0: no floor
};
const Shape kShapes[] = {
    {"d96 L3 V226 (quick start)", 96, 3, 4, 256, 226, 0},
    {"d128 L4 V512", 128, 4, 4, 384, 512, 0.35},
    {"d256 L6 V4096", 256, 6, 8, 768, 4096, 0.35},
    {"d512 L8 V8192", 512, 8, 8, 1408, 8192, 0.35},  // measured at batch 32 only, because a token is 60 MFLOP
};
constexpr int32_t kTokens = 256;
constexpr double kTwoThreadFloor = 1.5, kBusyFloor = 0.95;  // kBusyFloor: 1 within the noise of a loaded machine

model::ModelConfig config_of(const Shape& s) {
  model::ModelConfig c;
  c.vocabulary = s.vocabulary, c.width = s.width, c.layers = s.layers, c.heads = s.heads, c.kv_heads = s.heads;
  c.head_dim = s.width / s.heads, c.mlp_width = s.mlp, c.max_positions = 512;
  return c;
}

/// 2 FLOP per weight that multiplies a row, and 4 per key, head and head dimension.
double flops_per_token(const model::ModelConfig& c, double context) {
  const double layer = double(c.width) * double(c.qkv_width() + c.q_width()) + 3.0 * double(c.width) * double(c.mlp_width);
  const double weights = double(c.layers) * layer + double(c.vocabulary) * double(c.width);
  return 2.0 * weights + 4.0 * context * double(c.q_width()) * double(c.layers);
}

/// A model and its engines. One engine lives through all measurements, so that its memory is warm.
struct Decoder {
  Decoder(const std::shared_ptr<const model::WeightSnapshot>& weights, int32_t batch, ThreadPool* pool)
      : batch(batch), engine(weights->config, engine_config(batch, weights->storage), pool) {
    engine.set_weights(weights);
  }
  static engine::EngineConfig engine_config(int32_t batch, DType storage) {
    engine::EngineConfig c;
    c.weight_storage = storage;
    c.max_running = batch, c.max_context = kTokens + 2, c.pages = batch * 17 + 1, c.step_tokens = 512;
    return c;
  }
  /// The seconds of each step of one batch, from the first token to the last.
  const std::vector<double>& run(int32_t tokens) {
    for (int32_t b = 0; b < batch; ++b) {
      engine::Request r;
      r.id = next_id++, r.prompt = {b % 200}, r.max_tokens = tokens;
      engine.submit(std::move(r));
    }
    steps.clear();
    for (auto start = std::chrono::steady_clock::now(); engine.step(output); start = std::chrono::steady_clock::now()) {
      steps.push_back(seconds_since(start));
    }
    return steps;
  }
  int32_t batch;
  engine::Engine engine;
  engine::StepOutput output;
  std::vector<double> steps;
  uint64_t next_id = 1;
};

/// The shortest time of each step over the repeats: step i does the same work in each, and other processes can only add
/// time.
class BestSteps {
 public:
  BestSteps(Decoder& decoder, int32_t tokens) : decoder_(decoder), tokens_(tokens) {}
  void again() {
    const std::vector<double>& steps = decoder_.run(tokens_);
    if (best_.empty()) best_ = steps;
    for (size_t i = 0; i < best_.size(); ++i) best_[i] = std::min(best_[i], steps[i]);
  }
  /// Tokens per second.
  double rate() const {
    return double(decoder_.batch) * tokens_ / std::accumulate(best_.begin(), best_.end(), 0.0);
  }

 private:
  Decoder& decoder_;
  int32_t tokens_;
  std::vector<double> best_;
};

/// Tokens per second of one run, interruptions included.
double plain_rate(Decoder& decoder, int32_t tokens) {
  const std::vector<double>& steps = decoder.run(tokens);
  return double(decoder.batch) * tokens / std::accumulate(steps.begin(), steps.end(), 0.0);
}

double median(std::vector<double> x) {
  std::nth_element(x.begin(), x.begin() + int64_t(x.size() / 2), x.end());
  return x[x.size() / 2];
}

struct Report {
  bool json = false;
  Json rows = Json::array();
  void add(const std::string& name, int32_t batch, int threads, double rate, double fraction, double value, double floor) {
    Json row = Json::object();
    row.set("name", Json::string(name));
    row.set("batch", Json::integer(batch));
    row.set("threads", Json::integer(threads));
    row.set("tokensPerSecond", Json::number(rate));
    row.set("fractionOfPeak", Json::number(fraction));
    if (value > 0) row.set("value", Json::number(value));
    if (floor > 0) row.set("floor", Json::number(floor));
    rows.push(std::move(row));
    if (json) return;
    std::printf("%-60s %9.0f tok/s %5.1f %% of peak", name.c_str(), rate, 100 * fraction);
    if (value > 0) std::printf("  x%.2f", value);
    if (floor > 0) std::printf("  (floor %.2f)", floor);
    std::printf("\n");
  }
};

/// Tokens per second of two independent engines, each on its own thread, the best of `repeats`: what this machine
/// currently gives to two threads.
double independent_rate(Decoder& a, Decoder& b, int32_t tokens, int repeats) {
  double best = 0;
  for (int i = 0; i < repeats; ++i) {
    const auto start = std::chrono::steady_clock::now();
    std::thread other([&] { b.run(tokens); });
    a.run(tokens);
    other.join();
    best = std::max(best, double(a.batch + b.batch) * tokens / seconds_since(start));
  }
  return best;
}

struct Loaded {
  double rate, over_one;
};

/// Two threads against one while another process keeps a core busy: medians over pairs of runs close in time, in
/// alternating order, so that both see the same load.
Loaded loaded_rate(Decoder& one, Decoder& two, int32_t tokens, int pairs) {
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop.load(std::memory_order_relaxed)) {
    }
  });
  std::vector<double> ratios, rates;
  for (int i = 0; i < pairs; ++i) {
    const double before = i % 2 ? plain_rate(one, tokens) : 0;
    rates.push_back(plain_rate(two, tokens));
    ratios.push_back(rates.back() / (i % 2 ? before : plain_rate(one, tokens)));
  }
  stop = true;
  busy.join();
  return {median(rates), median(ratios)};
}

void measure(const Shape& shape, int32_t batch, DType storage, bool smoke, double peak, ThreadPool& pool, Report& report) {
  const model::ModelConfig config = config_of(shape);
  model::Parameters parameters(config);
  parameters.initialize(1);
  const auto weights = model::WeightSnapshot::make(Stream{}, parameters, 1, storage);
  Decoder one(weights, batch, nullptr), two(weights, batch, &pool);
  const int32_t tokens = smoke ? 16 : kTokens, busy_tokens = tokens / 4;
  const double flops = flops_per_token(config, tokens / 2.0) * 1e-9;
  const std::string name = std::string(shape.name) + (storage == DType::kBF16 ? " bf16 B" : " B") + std::to_string(batch);
  const bool barred = batch == 32 && shape.floor > 0;
  BestSteps lone(one, tokens), pair(two, tokens);
  for (int i = 0; i < (smoke ? 1 : 5); ++i) lone.again(), pair.again();  // in turns, so that both see the same disturbance
  const double alone = lone.rate(), both = pair.rate();
  report.add(name + ", 1 thread", batch, 1, alone, alone * flops / peak, 0, barred ? shape.floor : 0);
  report.add(name + ", 2 threads (value: over one)", batch, 2, both, both * flops / (2 * peak), both / alone,
             barred ? kTwoThreadFloor : 0);
  if (!barred) return;
  Decoder other(weights, batch, nullptr);
  const double machine = independent_rate(one, other, tokens, smoke ? 1 : 3);
  report.add(name + ", two engines of 1 thread at once (value: over one; what the machine gives)", batch, 2, machine,
             machine * flops / (2 * peak), machine / alone, 0);
  const Loaded loaded = loaded_rate(one, two, busy_tokens, smoke ? 1 : 15);
  report.add(name + ", 2 threads, a core busy (value: over one, median of pairs)", batch, 2, loaded.rate,
             loaded.rate * flops_per_token(config, busy_tokens / 2.0) * 1e-9 / (2 * peak), loaded.over_one, kBusyFloor);
}

}  // namespace

int main(int argc, char** argv) {
  const auto [json, smoke, filter] = bench::parse_options(argc, argv);
  Report report{.json = json};
  const double peak = bench::peak_gflops(Stream{}, smoke ? 5 : 40);
  if (!report.json) std::printf("FMA peak of one core: %.0f GFLOP/s\n", peak);
  ThreadPool pool(2);
  for (const Shape& shape : kShapes) {
    if (!std::strstr(shape.name, filter)) continue;
    for (const int32_t batch : {8, 32, 64}) {
      if (batch == 32 || shape.width < 512) measure(shape, batch, DType::kF32, smoke, peak, pool, report);
      if (batch == 32) measure(shape, batch, DType::kBF16, smoke, peak, pool, report);
    }
  }
  if (!report.json) return 0;
  Json out = Json::object();
  out.set("peakGflops", Json::number(peak));
  out.set("isa", Json::string(kernels::cpu::isa_name(kernels::cpu::isa())));
  out.set("rows", std::move(report.rows));
  std::printf("%s\n", out.dump().c_str());
}
