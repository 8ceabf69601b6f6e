// Layout, names and initialisation of the parameter block. Faults put into the code: v_proj before k_proj,
// biases initialised to 1, residual scale left out, tensors drawn with one key, fresh parameters cleared by
// writing zeros. Each is detected.
#include "model/parameters.h"

#include <fstream>

#if defined(__linux__)
#include <unistd.h>
#endif

#include "check.h"
#include "model/reference.h"

namespace model_parameters_test {
namespace {

using namespace hone;
using model::Parameters;

/// The tensors of a layer by transformers' names (modeling_llama, _phi3, _olmo2, _gemma2, _gemma3, _glm4,
/// _exaone4); nullptr if the layer lacks the tensor.
struct LayerNames {
  std::vector<const char*> qkv{"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
  std::vector<const char*> gate_up{"mlp.gate_proj", "mlp.up_proj"};
  const char *attn_norm = "input_layernorm", *attn_after = nullptr, *mlp_norm = "post_attention_layernorm", *mlp_after = nullptr;
};

LayerNames names_of(const std::string& arch) {
  LayerNames names;
  if (arch == "phi3") names.qkv = {"self_attn.qkv_proj"}, names.gate_up = {"mlp.gate_up_proj"};
  if (arch == "glm4") names.gate_up = {"mlp.gate_up_proj"}, names.attn_after = "post_self_attn_layernorm", names.mlp_after = "post_mlp_layernorm";
  if (arch == "olmo2" || arch == "exaone4" || arch.starts_with("gemma")) names.attn_after = "post_attention_layernorm", names.mlp_after = "post_feedforward_layernorm";
  if (arch == "olmo2" || arch == "exaone4") names.attn_norm = names.mlp_norm = nullptr;
  if (arch.starts_with("gemma")) names.mlp_norm = "pre_feedforward_layernorm";
  if (arch.starts_with("cohere")) names.mlp_norm = nullptr;
  return names;
}

/// Checks that the named tensors, in order, make up the rows of a view.
struct Walk {
  const Parameters& parameters;
  std::string layer, what;
  size_t met = 0;

  void is(const TensorView& view, const std::vector<const char*>& names, const char* kind = ".weight") {
    if (view.empty() || names.front() == nullptr) {
      if (!view.empty() || names.front() != nullptr) fail("a tensor too few or too many beside ", names.front());
      return;
    }
    const float* at = view.as<float>();
    for (const char* name : names) {
      const TensorView found = parameters.view(layer + name + kind);
      if (found.as<float>() != at) fail("another place for ", name);
      at += found.numel();
      ++met;
    }
    if (at != view.as<float>() + view.numel()) fail("another size for ", names.front());
  }
  void fail(const char* fault, const char* name) const {
    test::report(__FILE__, __LINE__, what + ", " + layer + ": " + fault + (name ? name : "nothing"));
  }
};

/// Checks gpt-oss's expert tensors. Source: modeling_gpt_oss.
void walk_turned_experts(Walk& walk, const model::LayerViews& v, const model::ExpertsConfig& e) {
  walk.is(v.router, {"mlp.router"});
  walk.is(v.router_bias, {"mlp.router"}, ".bias");
  walk.is(v.experts_gate_up, {"mlp.experts.gate_up_proj"}, "");
  walk.is(v.experts_gate_up_bias, {"mlp.experts.gate_up_proj_bias"}, "");
  walk.is(v.experts_down, {"mlp.experts.down_proj"}, "");
  walk.is(v.experts_down_bias, {"mlp.experts.down_proj_bias"}, "");
  EXPECT_EQ(v.experts_gate_up.dim(1), 2 * e.width);
}

/// Checks router, correction, gate and up of all experts, down of all. Source: modeling_qwen3_moe, _mixtral,
/// _glm4_moe.
void walk_experts(Walk& walk, const model::LayerViews& v, const model::ModelConfig& config) {
  const bool mixtral = config.arch == "mixtral";
  const std::string sparse = mixtral ? "block_sparse_moe" : "mlp";
  std::vector<std::string> gate_up, down;
  for (int64_t e = 0; e < config.experts.count; ++e) {
    const std::string stem = sparse + ".experts." + std::to_string(e) + ".";
    gate_up.push_back(stem + (mixtral ? "w1" : "gate_proj")), gate_up.push_back(stem + (mixtral ? "w3" : "up_proj"));
    down.push_back(stem + (mixtral ? "w2" : "down_proj"));
  }
  const auto pointers = [](const std::vector<std::string>& names) {
    std::vector<const char*> out;
    for (const std::string& name : names) out.push_back(name.c_str());
    return out;
  };
  walk.is(v.router, {(sparse + ".gate").c_str()});
  walk.is(v.shared_gate, {config.experts.shared_gate ? "mlp.shared_expert_gate" : nullptr});
  walk.is(v.correction, {config.experts.correction ? "mlp.gate.e_score_correction_bias" : nullptr}, "");
  walk.is(v.experts_gate_up, pointers(gate_up));
  walk.is(v.experts_down, pointers(down));
  EXPECT_EQ(v.experts_gate_up.dim(0), config.experts.count * 2 * config.experts.width);
  EXPECT_EQ(v.experts_down.dim(1), config.experts.width);
}

TEST(layer_views_are_the_named_tensors) {
  for (const auto& [name, config] : test::switch_configs()) {
    const Parameters p(config);
    const LayerNames names = names_of(config.arch);
    size_t met = 0;
    for (int64_t l = 0; l < config.layers; ++l) {
      Walk walk{p, "model.layers." + std::to_string(l) + ".", name};
      const model::LayerViews& v = p.layer(l);
      walk.is(v.attn_norm, {names.attn_norm});
      const bool two = config.keys_are_values(l);
      walk.is(v.qkv, two ? std::vector<const char*>{"self_attn.q_proj", "self_attn.k_proj"} : names.qkv);
      if (config.qkv_bias) walk.is(v.qkv_bias, names.qkv, ".bias");
      const bool last = config.qk_norm_last;
      walk.is(v.q_norm, {!config.qk_norm ? nullptr : last ? "self_attn.query_layernorm" : "self_attn.q_norm"});
      walk.is(v.k_norm, {!config.qk_norm ? nullptr : last ? "self_attn.key_layernorm" : "self_attn.k_norm"});
      walk.is(v.sinks, {config.sinks ? "self_attn.sinks" : nullptr}, "");
      walk.is(v.o, {"self_attn.o_proj"});
      walk.is(v.o_bias, {config.o_bias ? "self_attn.o_proj" : nullptr}, ".bias");
      walk.is(v.attn_after, {names.attn_after});
      walk.is(v.mlp_norm, {names.mlp_norm});
      const bool dense = config.mlp_width_of(l) > 0, shared = dense && config.mixes(l);
      const std::string beside = config.experts.shared_gate ? "mlp.shared_expert." : "mlp.shared_experts.";
      if (shared) walk.is(v.gate_up, {(beside + "gate_proj").c_str(), (beside + "up_proj").c_str()}), walk.is(v.down, {(beside + "down_proj").c_str()});
      else if (dense) walk.is(v.gate_up, names.gate_up), walk.is(v.down, {"mlp.down_proj"});
      if (config.mixes(l) && config.experts.turned) walk_turned_experts(walk, v, config.experts);
      else if (config.mixes(l)) walk_experts(walk, v, config);
      walk.is(v.mlp_after, {names.mlp_after});
      EXPECT_EQ(v.qkv_bias.empty(), !config.qkv_bias);
      walk.is(v.scalar, {config.layer_scalars ? "layer_scalar" : nullptr}, "");
      EXPECT_EQ(v.qkv.dim(0), config.heads * (two ? 10 : config.head_dim) + (two ? 10 : 2 * config.kv_heads * config.head_dim));
      EXPECT_EQ(v.gate_up.dim(0), 2 * config.mlp_width_of(l));
      EXPECT_EQ(v.router.empty(), !config.mixes(l));
      met += walk.met;
    }
    EXPECT_EQ(met + (config.tied_head ? 2u : 3u), p.specs().size());
    EXPECT_EQ(p.view("model.norm.weight").as<float>(), p.final_norm().as<float>());
    EXPECT_EQ(p.head().as<float>() == p.embedding().as<float>(), config.tied_head);
    EXPECT_THROWS(p.view("model.layers.9.mlp.down_proj.weight"), Code::kFormat);
  }
}

TEST(parameters_start_at_zero_and_survive_a_move) {
  Parameters p(test::tiny_config());
  for (int64_t i = 0; i < p.flat().dim(0); ++i) EXPECT_EQ(p.flat().as<float>()[i], 0.0f);
  p.initialize(3);
  const float first = p.layer(1).down.as<float>()[5];
  Parameters q = std::move(p);
  EXPECT_EQ(q.layer(1).down.as<float>()[5], first);
}

#if defined(__linux__)
int64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  int64_t size = 0, resident = 0;
  statm >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

TEST(what_is_never_written_takes_no_memory) {
  model::ModelConfig config = test::tiny_config();
  config.vocabulary = (64 << 20) / (4 * config.width);
  const int64_t before = resident_bytes();
  const Parameters gradients(config);
  const int64_t taken = resident_bytes() - before, whole = gradients.flat().numel() * 4;
  // the sanitizer's shadow memory takes another eighth
  EXPECT_TRUE(whole >= (64 << 20) && taken < whole / 2);
  EXPECT_EQ(gradients.flat().as<float>()[whole / 4 - 1], 0.0f);
}
#endif

TEST(on_the_host_a_tensor_is_read_and_written_where_it_lies) {
  Parameters p(test::tiny_config());
  const TensorView norm = p.final_norm();
  Arena nothing;
  EXPECT_EQ(p.staging_bytes(norm), 0);
  EXPECT_EQ(p.read(norm, nothing).data, norm.data);
  p.write(norm, [&](const TensorView& host) {
    EXPECT_EQ(host.data, norm.data);
    host.as<float>()[1] = 3.0f;
  });
  EXPECT_EQ(p.final_norm().as<float>()[1], 3.0f);
}

struct Moments { double mean = 0, deviation = 0; };
Moments moments(const float* x, int64_t n) {
  double sum = 0, square = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i], square += double(x[i]) * x[i];
  const double mean = sum / double(n);
  return {mean, std::sqrt(square / double(n) - mean * mean)};
}

TEST(initialisation_has_the_stated_spread) {
  model::ModelConfig config = test::tiny_config();
  config.width = 128;
  config.mlp_width = 96;
  config.vocabulary = 200;
  Parameters p(config);
  p.initialize(17);
  const auto check = [&](const char* name, double wanted) {
    const TensorView v = p.view(std::string(name));
    const Moments m = moments(v.as<float>(), v.numel());
    const double n = double(v.numel());
    EXPECT_NEAR(m.mean, 0.0, 5.0 * wanted / std::sqrt(n));        // five standard errors
    EXPECT_NEAR(m.deviation, wanted, 5.0 * wanted / std::sqrt(2 * n));
  };
  check("model.embed_tokens.weight", 0.02);
  check("lm_head.weight", 0.02);
  check("model.layers.0.self_attn.q_proj.weight", 1.0 / std::sqrt(128.0));
  check("model.layers.1.self_attn.o_proj.weight", 1.0 / std::sqrt(24.0) / 2.0);
  check("model.layers.1.mlp.down_proj.weight", 1.0 / std::sqrt(96.0) / 2.0);
  for (int64_t i = 0; i < config.width; ++i) EXPECT_EQ(p.final_norm().as<float>()[i], 1.0f);
}

TEST(initialisation_depends_on_seed_and_tensor_only) {
  Parameters a(test::tiny_config()), b(test::tiny_config()), c(test::tiny_config());
  a.initialize(5);
  b.initialize(5);
  c.initialize(6);
  const int64_t n = a.flat().dim(0);
  EXPECT_TRUE(test::same_bits(a.flat().as<float>(), b.flat().as<float>(), n));
  EXPECT_TRUE(!test::same_bits(a.flat().as<float>(), c.flat().as<float>(), n));
  EXPECT_TRUE(!test::same_bits(a.layer(0).gate_up.as<float>(), a.layer(1).gate_up.as<float>(), 16));
}

TEST(initialisation_is_the_same_on_any_number_of_threads) {
  model::ModelConfig config = test::tiny_config();
  config.vocabulary = 4099;  // large enough for more blocks than a thread draws at a time
  ThreadPool pool(3);
  Stream many;
  many.pool = &pool;
  Parameters a(config), b(config, many);
  a.initialize(5);
  b.initialize(5);
  EXPECT_TRUE(test::same_bits(a.flat().as<float>(), b.flat().as<float>(), a.flat().dim(0)));
}

TEST(biases_start_at_zero) {
  model::ModelConfig config = test::tiny_config();
  config.arch = "qwen2";
  config.qkv_bias = true;
  Parameters p(config);
  p.initialize(1);
  for (int64_t i = 0; i < config.qkv_width(); ++i) EXPECT_EQ(p.layer(0).qkv_bias.as<float>()[i], 0.0f);
}

}  // namespace
}  // namespace model_parameters_test
