// The forward pass compared with golden data (PyTorch) and the f64 reference; generation and training have
// the same bits. Faults put into the code: scale 1/D, q's norm weight on k, q read for k, residual taken from
// the norm, window dropped, k not rotated, hidden before the final norm, the wrong rows gathered above the
// last attention. Each is detected.
#include "model/network.h"

#include "check.h"
#include "kernels/attention.h"
#include "kernels/lm_head.h"
#include "model/goldens.h"
#include "model/hf_loader.h"
#include "model/layer.h"
#include "model/reference.h"

namespace model_network_test {
namespace {

using namespace hone;
using model::Parameters;
using model::WeightSnapshot;

struct Packed {
  std::vector<int32_t> ids, positions, cu_seqlens{0};
  void add(const std::vector<int32_t>& sequence, const std::vector<int32_t>& at = {}) {
    for (size_t t = 0; t < sequence.size(); ++t) {
      ids.push_back(sequence[t]);
      positions.push_back(at.empty() ? int32_t(t) : at[t]);
    }
    cu_seqlens.push_back(int32_t(ids.size()));
  }
  model::PackedRows rows() const {
    return {i32(ids.data(), {int64_t(ids.size())}), i32(positions.data(), {int64_t(ids.size())}),
            i32(cu_seqlens.data(), {int64_t(cu_seqlens.size())}), {}};
  }
};

std::vector<float> training_hidden(const Stream& stream, const WeightSnapshot& weights, const Packed& packed) {
  const int64_t T = int64_t(packed.ids.size());
  Arena arena(model::training_bytes({}, weights.config, T, false).total(), "test");
  const model::Activations saved = model::forward_training(stream, weights, packed.rows(), arena);
  const float* hidden = saved.hidden.as<float>();
  return {hidden, hidden + saved.hidden.numel()};
}

std::vector<int32_t> random_ids(int64_t n, int64_t vocabulary) {
  std::vector<int32_t> ids(static_cast<size_t>(n));
  for (int32_t& id : ids) id = int32_t(test::random_int(0, vocabulary - 1));
  return ids;
}

TEST(hidden_states_match_the_f64_reference_for_every_switch) {
  for (const auto& [name, config] : test::switch_configs()) {
    Parameters p(config);
    test::roughen(p, test::random()());
    const auto weights = WeightSnapshot::make(Stream{}, p, 1);
    const auto ids = random_ids(17, config.vocabulary);
    Packed packed;
    packed.add(ids);
    const auto found = training_hidden(Stream{}, *weights, packed);
    const auto wanted = test::Reference(p).hidden(ids);
    double worst = 0;
    for (size_t t = 0; t < ids.size(); ++t)
      for (size_t i = 0; i < wanted[t].size(); ++i)
        worst = std::max(worst, std::fabs(double(found[t * wanted[t].size() + i]) - wanted[t][i]));
    if (!(worst < 5e-5)) test::report(__FILE__, __LINE__, std::string(name) + ": hidden off by " + test::show(worst));
  }
}

/// A simple KV cache for one sequence: keys and values in plain arrays per layer, rounded as the weights'
/// storage requires.
class PagedCache final : public model::AttentionSource {
 public:
  kernels::DeltaRuns runs(int64_t) override { return {}; }  // not called, since no layer is recurrent
  PagedCache(const model::ModelConfig& c, int64_t pages, DType storage) : config_(c), pages_(pages), storage_(storage) {
    for (int64_t l = 0; l < c.layers; ++l) keys_.emplace_back(size_t(pages * c.kv_width(l) * kPage));
    values_ = keys_;
    for (int64_t i = 0; i < pages; ++i) table_.push_back(int32_t(pages - 1 - i));
  }
  std::vector<int32_t> positions;
  kernels::KvPlace place(int64_t layer) const override {
    const int64_t R = int64_t(positions.size()), width = config_.kv_width(layer) * kPage;
    const auto plane = [&](const std::vector<float>& memory) {
      return TensorView(const_cast<float*>(memory.data()), storage_, {pages_, width});
    };
    return {i32(sequence_.data(), {R}), i32(positions.data(), {R}), i32(table_.data(), {1, pages_}),
            {plane(keys_[size_t(layer)]), plane(values_[size_t(layer)]), config_.kv_heads_of(layer), kPage, config_.head_dim_of(layer)}};
  }
  void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView&, const TensorView&,
              const TensorView& sinks, const TensorView& out, const TensorView&) override {
    const kernels::KvPlace at = place(layer);
    kernels::attention_paged(stream, {q, at.row_sequence, at.row_position, at.block_tables, at.pages, out,
                                      model::attention_scale(config_), config_.window(layer), {}, {}, {},
                                      config_.attention_softcap, sinks});
  }

 private:
  static constexpr int64_t kPage = 16;
  const model::ModelConfig& config_;
  int64_t pages_;
  DType storage_;
  std::vector<std::vector<float>> keys_, values_;
  std::vector<int32_t> table_, sequence_ = std::vector<int32_t>(64, 0);
};

TEST(generation_equals_training_to_the_bit_for_any_prefill_split) {
  ThreadPool pool(2);
  Stream threaded;
  threaded.pool = &pool;
  for (const auto& [name, config] : test::switch_configs()) {
    Parameters p(config);
    test::roughen(p, test::random()());
    for (DType storage : {DType::kF32, DType::kBF16}) {
      const auto weights = WeightSnapshot::make(Stream{}, p, 1, storage);
      const auto ids = random_ids(41, config.vocabulary);
      Packed packed;
      packed.add(random_ids(5, config.vocabulary));
      packed.add(ids);
      const auto whole = training_hidden(threaded, *weights, packed);
      const float* wanted = whole.data() + 5 * config.width;
      PagedCache cache(config, 3, storage);
      Arena scratch(model::forward_scratch_bytes({}, config, 41), "test");
      for (int32_t at = 0; at < 41;) {
        const int32_t n = std::min<int32_t>(41 - at, int32_t(test::random_int(1, 12)));
        cache.positions.clear();
        for (int32_t i = 0; i < n; ++i) cache.positions.push_back(at + i);
        auto hidden = test::poison(n * config.width);
        model::forward(Stream{}, *weights, i32(ids.data() + at, {n}), i32(cache.positions.data(), {n}), cache, scratch,
                       f32(hidden.data(), {n, config.width}));
        if (!test::same_bits(hidden.data(), wanted + at * config.width, n * config.width)) {
          test::report(__FILE__, __LINE__, std::string(name) + ": rows from " + std::to_string(at) + " differ");
        }
        EXPECT_EQ(scratch.used(), 0);
        at += n;
      }
      EXPECT_TRUE(scratch.peak() <= model::forward_scratch_bytes({}, config, 41));
    }
  }
}

TEST(loss_rows_alone_have_the_bits_they_have_among_all) {
  for (const auto& [name, config] : test::switch_configs()) {
    Parameters p(config);
    test::roughen(p, test::random()());
    const auto weights = WeightSnapshot::make(Stream{}, p, 1);
    Packed packed;
    for (int i = 0; i < 3; ++i) packed.add(random_ids(test::random_int(1, 20), config.vocabulary));
    const auto all = training_hidden(Stream{}, *weights, packed);
    const int64_t T = int64_t(packed.ids.size()), C = config.width;
    for (const int64_t share : {0, 50, 100}) {
      std::vector<int32_t> chosen;
      for (int32_t t = 0; t < T; ++t)
        if (test::random_int(0, 99) < share) chosen.push_back(t);
      Arena arena(model::training_bytes({}, config, T, false).total(), "test");
      model::PackedRows rows = packed.rows();
      rows.loss_rows = i32(chosen.data(), {int64_t(chosen.size())});
      const model::Activations saved = model::forward_training(Stream{}, *weights, rows, arena);
      EXPECT_EQ(saved.hidden.dim(0), int64_t(chosen.size()));
      for (size_t r = 0; r < chosen.size(); ++r)
        EXPECT_TRUE(test::same_bits(saved.hidden.row<float>(int64_t(r)), all.data() + chosen[r] * C, C));
    }
  }
}

TEST(positions_outside_the_table_are_refused) {
  const model::ModelConfig config = test::tiny_config();
  Parameters p(config);
  const auto weights = WeightSnapshot::make(Stream{}, p, 1);
  for (int32_t bad : {-1, int32_t(config.max_positions)}) {
    Packed packed;
    packed.add({1, 2}, {0, bad});
    EXPECT_THROWS(training_hidden(Stream{}, *weights, packed), Code::kShape);
  }
}

// ---- goldens ------------------------------------------------------------------------------------------

struct Golden {
  std::string folder;
  Json json;
  model::SafetensorsFile tensors;
  Parameters parameters;
  std::shared_ptr<const WeightSnapshot> weights;

  explicit Golden(const std::string& path)
      : folder(path), json(test::read_json(path + "/golden.json")), tensors(path + "/golden.safetensors"),
        parameters(limited(model::load_hf_config(path))) {
    model::load_hf_weights(folder, parameters);
    weights = WeightSnapshot::make(Stream{}, parameters, 1);
  }
  /// Golden positions are below 20,001; a table of a million rows would only take time.
  static model::ModelConfig limited(model::ModelConfig c) {
    c.max_positions = std::max<int64_t>(std::min<int64_t>(c.max_positions, 20001), 20001);
    return c;
  }
  std::string name() const { return std::filesystem::path(folder).filename().string(); }
};

struct Head { std::vector<float> logprobs, entropies; };
Head head_of(const Golden& g, const float* hidden, const std::vector<int32_t>& targets, float temperature) {
  const int64_t R = int64_t(targets.size());
  Head out{test::poison(R), test::poison(R)};
  auto lse = test::poison(R);
  kernels::lm_head(Stream{}, {.h = f32(hidden, {R, g.parameters.config().width}),
                              .w = g.weights->head,
                              .targets = i32(targets.data(), {R}),
                              .logprobs = f32(out.logprobs.data(), {R}),
                              .entropies = f32(out.entropies.data(), {R}),
                              .lse = f32(lse.data(), {R}),
                              .temperature = temperature});
  return out;
}

void expect_close(const Golden& g, const std::string& what, const float* found, const std::vector<double>& wanted, double tolerance) {
  double worst = 0;
  for (size_t i = 0; i < wanted.size(); ++i) {
    const double off = std::fabs(double(found[i]) - wanted[i]);
    worst = std::isnan(off) ? INFINITY : std::max(worst, off);
  }
  if (!(worst <= tolerance)) test::report(__FILE__, __LINE__, g.name() + " " + what + " off by " + test::show(worst));
}

void check_sequence(const Golden& g, const Json& sequence) {
  const std::string name = test::at(sequence, "name").as_string("golden");
  const auto ids = test::numbers<int32_t>(sequence, "ids");
  const int64_t n = int64_t(ids.size()), C = g.parameters.config().width, V = g.parameters.config().vocabulary;
  Packed packed;
  packed.add(ids, sequence.find("position_ids") ? test::numbers<int32_t>(sequence, "position_ids") : std::vector<int32_t>{});
  const auto hidden = training_hidden(Stream{}, *g.weights, packed);
  int64_t first = 0, last = n;
  if (sequence.find("rows")) {
    const auto rows = test::numbers<int64_t>(sequence, "rows");
    first = rows[0], last = rows[1];
  }
  // Exact rotary angles differ from transformers' f32 angles at long positions (README).
  const double tolerance = name.compare(0, 7, "longpos") == 0 ? 2e-3 : 1e-4;
  expect_close(g, name + " hidden", hidden.data() + first * C, test::doubles(g.tensors, name + ".hidden"), tolerance);
  auto logits = test::poison((last - first) * V);
  kernels::linear(Stream{}, {f32(hidden.data() + first * C, {last - first, C}), g.weights->head, {},
                             f32(logits.data(), {last - first, V})});
  expect_close(g, name + " logits", logits.data(), test::doubles(g.tensors, name + ".logits"), tolerance);
  std::vector<int32_t> targets;
  for (int64_t t = first; t < last; ++t) targets.push_back(t + 1 < n ? ids[size_t(t + 1)] : 0);
  for (const auto& [suffix, temperature] : {std::pair<const char*, float>{"", 1.0f}, {"_t0.7", 0.7f}}) {
    const Head head = head_of(g, hidden.data() + first * C, targets, temperature);
    expect_close(g, name + " log-probs" + suffix, head.logprobs.data(),
                 test::numbers<double>(sequence, (std::string("next_logprobs") + suffix).c_str()), tolerance);
    expect_close(g, name + " entropies" + suffix, head.entropies.data(),
                 test::numbers<double>(sequence, (std::string("entropies") + suffix).c_str()), tolerance);
  }
}

void check_greedy(const Golden& g, const Json& greedy) {
  const int64_t C = g.parameters.config().width, V = g.parameters.config().vocabulary;
  auto ids = test::numbers<int32_t>(greedy, "prompt");
  for (int32_t wanted : test::numbers<int32_t>(greedy, "continuation")) {
    Packed packed;
    packed.add(ids);
    const auto hidden = training_hidden(Stream{}, *g.weights, packed);
    auto logits = test::poison(V);
    kernels::linear(Stream{}, {f32(hidden.data() + int64_t(ids.size() - 1) * C, {1, C}), g.weights->head, {},
                               f32(logits.data(), {1, V})});
    const int32_t found = int32_t(std::max_element(logits.begin(), logits.end()) - logits.begin());
    if (found != wanted) return test::report(__FILE__, __LINE__, g.name() + ": greedy token differs");
    ids.push_back(found);
  }
}

TEST(golden_models_are_reproduced) {
  if (test::goldens().empty()) SKIP("no golden data");
  for (const auto& entry : std::filesystem::directory_iterator(test::goldens() + "/models")) {
    const Golden g(entry.path().string());
    for (const Json& sequence : test::at(g.json, "sequences").items("golden")) check_sequence(g, sequence);
    for (const Json& greedy : test::at(g.json, "greedy").items("golden")) check_greedy(g, greedy);
  }
}

}  // namespace
}  // namespace model_network_test
