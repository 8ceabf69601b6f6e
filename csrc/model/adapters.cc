#include "model/adapters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "core/philox.h"
#include "kernels/axpby.h"
#include "kernels/cast.h"
#include "model/layer.h"

namespace hone::model {
namespace {

using kernels::PackedMatrix;

/// A target of adapters: a matrix with its own name in files, rows [first, first + n) of a product's [.., k];
/// or a matrix of all experts.
struct Target {
  const char* name;
  std::string part;  // of the layer: e.g. "self_attn"
  Product product;
  int64_t first, n, k;
  std::optional<ExpertProduct> experts{};

  std::string stem() const { return experts ? part : part + "." + name; }
};

ExpertAdapterSizes sizes_of(const Target& t, const ModelConfig& c, const AdapterConfig& config) {
  return {c.experts.count, config.rank, t.n, t.k, c.experts.turned};
}

void add_attention(const ModelConfig& c, int64_t layer, std::vector<Target>& out) {
  const std::string part = layer_names(c).attention;
  const int64_t q = c.q_width(layer), made = (c.gated_attention ? 2 : 1) * q, kv = c.kv_width(layer), C = c.width;
  if (c.fused_qkv) {
    out.push_back({"qkv_proj", part, Product::kQkv, 0, c.qkv_width(), C});
  } else {
    out.push_back({"q_proj", part, Product::kQkv, 0, made, C});
    out.push_back({"k_proj", part, Product::kQkv, made, kv, C});
    if (!c.keys_are_values(layer)) out.push_back({"v_proj", part, Product::kQkv, made + kv, kv, C});
  }
  out.push_back({layer_names(c).attn_out, part, Product::kO, 0, C, q});
}

void add_linear_attention(const ModelConfig& c, int64_t layer, std::vector<Target>& out) {
  const int64_t wide = c.delta.channels() + c.delta.values(), M = c.delta.value_heads, C = c.width;
  if (c.delta.is_convolution()) {
    out.push_back({"in_proj", "conv", Product::kQkv, 0, c.delta.inputs(), C});
    return out.push_back({"out_proj", "conv", Product::kO, 0, C, c.delta.values()});
  }
  if (c.delta.mamba) {
    const std::string part = layer_names(c).mamba;
    out.push_back({"in_proj", part, Product::kQkv, c.has_beside(layer) ? c.qkv_width(layer) : 0, c.delta.inputs(), C});
    // PEFT refuses adapters of out_proj in models of these two types, since Mamba's fused kernels read its weight directly
    if (!c.has_beside(layer) && c.names != ModelConfig::Names::kNemotronH) out.push_back({"out_proj", part, Product::kO, 0, C, c.delta.values()});
    return;
  }
  const auto rows = [&](const char* name, int64_t first, int64_t n) { out.push_back({name, "linear_attn", Product::kQkv, first, n, C}); };
  if (c.delta_by_head) {
    rows("in_proj_qkvz", 0, wide), rows("in_proj_ba", wide, 2 * M);
  } else {
    rows("in_proj_qkv", 0, c.delta.channels()), rows("in_proj_z", c.delta.channels(), c.delta.values());
    rows("in_proj_b", wide, M), rows("in_proj_a", wide + M, M);
  }
  out.push_back({"out_proj", "linear_attn", Product::kO, 0, C, c.delta.values()});
}

/// The experts' module in transformers, whose name may differ from that in files.
std::string experts_module(const ModelConfig& c) {
  using Names = ModelConfig::Names;
  return c.names == Names::kGraniteHybrid ? "block_sparse_moe.experts" : c.names == Names::kNemotronH ? "mixer.experts" : c.names == Names::kLfm2 ? "feed_forward.experts" : "mlp.experts";
}

/// Adds the experts' targets. PEFT wraps the experts' module once per parameter, with down's wrapper around
/// that of gate and up; hence the names.
void add_experts(const ModelConfig& c, std::vector<Target>& out) {
  const int64_t C = c.width, F = c.experts.width;
  const std::string module = experts_module(c);
  out.push_back({"experts", module + ".base_layer", {}, 0, c.gate_up_width(F), C, ExpertProduct::kGateUp});
  out.push_back({"experts", module, {}, 0, C, F, ExpertProduct::kDown});
}

std::vector<Target> targets_of(const ModelConfig& c, int64_t layer) {
  const int64_t C = c.width, F = c.mlp_width;
  const LayerNames names = layer_names(c);
  std::vector<Target> out;
  if (c.attends(layer)) add_attention(c, layer, out);
  if (c.is_linear(layer)) add_linear_attention(c, layer, out);
  if (c.mixes(layer)) add_experts(c, out);
  if (c.mixes() || !c.has_mlp(layer)) return out;
  if (c.fused_gate_up) {
    out.push_back({names.gate_up, names.mlp, Product::kGateUp, 0, 2 * F, C});
  } else {
    if (!c.squared_relu) out.push_back({names.gate, names.mlp, Product::kGateUp, 0, F, C});
    out.push_back({names.up, names.mlp, Product::kGateUp, c.gate_up_width(F) - F, F, C});
  }
  out.push_back({names.down, names.mlp, Product::kDown, 0, C, F});
  return out;
}

using LayerTargets = std::vector<std::vector<Target>>;  // targets of each layer

bool has(const std::vector<std::string>& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// The names of the targets in all layers, each once.
std::vector<std::string> names_in(const LayerTargets& layers) {
  std::vector<std::string> out;
  for (const auto& layer : layers) {
    for (const Target& t : layer) {
      if (!has(out, t.name)) out.push_back(t.name);
    }
  }
  return out;
}

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

[[noreturn]] void refuse_experts(const ModelConfig& model, const std::string& target, const std::vector<std::string>& all) {
  fail(Code::kUnsupported, "lora: target \"%s\" would mean experts (%s is a mixture of %lld), whose adapters are \"experts\"; targets can be %s.",
       target.c_str(), model.arch.c_str(), (long long)model.experts.count, joined(all).c_str());
}

void check_targets(const ModelConfig& model, const std::vector<std::string>& targets, const std::vector<std::string>& all) {
  if (targets.empty()) fail(Code::kConfig, "lora: targets is empty; name at least one of %s.", joined(all).c_str());
  for (const std::string& name : targets) {
    if (has(all, name)) continue;
    if (model.mixes() && has({"gate_proj", "up_proj", "down_proj"}, name)) refuse_experts(model, name, all);
    fail(Code::kConfig, "lora: %s has no \"%s\"; targets can be %s, or \"all-linear\" alone.", model.arch.c_str(), name.c_str(),
         joined(all).c_str());
  }
}

/// The targets that `config` names, in the model's order. "all-linear" leaves out experts, as PEFT does: their matrices
/// are parameters of one module, and their adapters have many times the weights of the others.
LayerTargets chosen(const ModelConfig& model, const AdapterConfig& config) {
  if (config.rank < 1) fail(Code::kConfig, "lora: rank is %lld; it must be at least 1.", (long long)config.rank);
  if (!(config.alpha > 0.0f)) fail(Code::kConfig, "lora: alpha is %g; it must be positive.", double(config.alpha));
  LayerTargets out;
  for (int64_t l = 0; l < model.layers; ++l) out.push_back(targets_of(model, l));
  const bool all = config.targets == std::vector<std::string>{"all-linear"};
  if (!all) check_targets(model, config.targets, names_in(out));
  for (auto& layer : out) std::erase_if(layer, [&](const Target& t) { return all ? t.experts.has_value() : !has(config.targets, t.name); });
  return out;
}

template <class Bytes>
int64_t most_of(const LayerTargets& layers, const Bytes& bytes) {
  int64_t most = 0;
  for (const auto& layer : layers) {
    for (const Target& t : layer) most = std::max(most, bytes(t));
  }
  return most;
}

DType pack_dtype(const Stream& stream) { return stream.is_cuda() ? DType::kBF16 : DType::kF32; }

int64_t packed_bytes(const Stream& stream, int64_t n, int64_t k) {
  return Arena::rounded(kernels::packed_bytes(stream, n, k, pack_dtype(stream)));
}

/// Packs w, or its transpose; on a GPU the transpose is the pack of w, marked as transposed.
PackedMatrix pack_thin(const Stream& stream, const TensorView& w, bool transpose, Arena& arena) {
  const bool turn = transpose && !stream.is_cuda();
  PackedMatrix out{w.dim(turn ? 1 : 0), w.dim(turn ? 0 : 1), pack_dtype(stream), nullptr};
  out.panels = arena.take(packed_bytes(stream, out.n, out.k));
  kernels::pack_matrix(stream, {.w = w, .transpose = turn, .out = out});
  if (transpose && !turn) return {out.k, out.n, out.storage, out.panels, true};
  return out;
}

void scale_rows(const Stream& stream, float scale, const TensorView& x) {
  if (scale != 1.0f) kernels::axpby(stream, {.x = x, .a = scale, .y = x});
}

}  // namespace

std::vector<TensorSpec> adapter_specs(const ModelConfig& model, const AdapterConfig& config) {
  std::vector<TensorSpec> specs;
  int64_t offset = 0;
  const auto add = [&](const std::string& name, int64_t n, int64_t k) {
    specs.push_back({name, {n, k}, offset, true});
    offset += (n * k + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
  };
  const LayerTargets targets = chosen(model, config);
  for (int64_t l = 0; l < model.layers; ++l) {
    for (const Target& t : targets[size_t(l)]) {
      const std::string name = "model.layers." + std::to_string(l) + "." + t.stem();
      const int64_t rank = config.rank * (t.experts ? model.experts.count : 1);
      add(name + ".lora_A.weight", rank, t.k);
      add(name + ".lora_B.weight", t.n, rank);
    }
  }
  return specs;
}

void check_adapters_for_gpu(const AdapterConfig& config) {
  if (config.rank % 8 == 0) return;
  fail(Code::kUnsupported, "lora: rank is %lld; on a GPU it must be a multiple of 8 (rows of 16 bytes).", (long long)config.rank);
}

std::string peft_name(const std::string& name) { return "base_model.model." + name; }

Json adapter_json(const ModelConfig& model, const AdapterConfig& config) {
  Json out = Json::object(), targets = Json::array(), parameters = Json::array();
  for (const std::string& name : names_in(chosen(model, config))) {
    if (name != "experts") targets.push(Json::string(name));
    else for (const char* of : {"gate_up_proj", "down_proj"}) parameters.push(Json::string(experts_module(model) + "." + of));
  }
  out.set("peft_type", Json::string("LORA"));
  out.set("task_type", Json::string("CAUSAL_LM"));
  out.set("r", Json::integer(config.rank));
  out.set("lora_alpha", Json::number(double(config.alpha)));
  out.set("lora_dropout", Json::number(0.0));
  out.set("target_modules", std::move(targets));
  if (has(config.targets, "experts")) out.set("target_parameters", std::move(parameters));
  out.set("bias", Json::string("none"));
  out.set("fan_in_fan_out", Json::boolean(false));
  out.set("use_rslora", Json::boolean(false));
  out.set("use_dora", Json::boolean(false));
  out.set("init_lora_weights", Json::boolean(true));
  out.set("inference_mode", Json::boolean(true));
  return out;
}

void check_adapter_json(const Json& json, const AdapterConfig& config, const char* where) {
  const auto number = [&](const char* field, double wanted) {
    const Json* found = json.find(field);
    const double is = found ? found->as_double(where) : 0.0;
    if (is != wanted) fail(Code::kConfig, "%s: %s is %g, the recipe's lora has %g.", where, field, is, wanted);
  };
  number("r", double(config.rank));
  number("lora_alpha", double(config.alpha));
  for (const char* field : {"use_rslora", "use_dora", "modules_to_save", "rank_pattern", "alpha_pattern", "layers_to_transform"}) {
    const Json* found = json.find(field);
    const std::string text = found ? found->dump() : "null";
    if (text == "null" || text == "false" || text == "{}" || text == "[]") continue;
    fail(Code::kUnsupported, "%s: %s is %s, which is not a plain adapter.", where, field, text.c_str());
  }
  const Json* bias = json.find("bias");
  if (bias && bias->as_string(where) != "none") {
    fail(Code::kUnsupported, "%s: bias is \"%s\"; only \"none\" is supported.", where, bias->as_string(where).c_str());
  }
}

Adapters::Adapters(const ModelConfig& model, const AdapterConfig& config, const Stream& stream)
    : config_(config),
      block_(model, adapter_specs(model, config), stream),
      pieces_(size_t(model.layers * kProducts)),
      experts_(size_t(model.layers * kExpertProducts)),
      packs_(adapter_pack_bytes(stream, model, config), "adapters", tensor_memory(stream)) {
  size_t spec = 0;
  const LayerTargets targets = chosen(model, config);
  for (int64_t l = 0; l < model.layers; ++l) {
    for (const Target& t : targets[size_t(l)]) {
      const auto view = [&](size_t at) { return block_.view(block_.specs()[at]); };
      if (!t.experts) pieces_[size_t(l * kProducts + int64_t(t.product))].push_back({t.first, spec, spec + 1, {}, {}, {}});
      else experts_[size_t(l * kExpertProducts + int64_t(*t.experts))] = {spec, spec + 1, {view(spec), view(spec + 1), model.experts.count, model.experts.turned}};
      spec += 2;
    }
  }
  draw();
}

void Adapters::draw() {
  for (size_t i = 0; i < block_.specs().size(); i += 2) {
    const TensorSpec& spec = block_.specs()[i];
    const double bound = 1.0 / std::sqrt(double(spec.shape[1]));
    block_.write(block_.view(spec), [&](const TensorView& host) {
      for (int64_t at = 0; at < spec.numel(); ++at) {
        const auto words = philox4x32({uint32_t(at / 4), uint32_t(uint64_t(at / 4) >> 32), uint32_t(i), 0x4c4f5241u},
                                      {uint32_t(config_.seed), uint32_t(config_.seed >> 32)});
        host.as<float>()[at] = float(bound * (2.0 * open_closed_u32(words[size_t(at % 4)]) - 1.0));
      }
    });
  }
}

void Adapters::pack(const Stream& stream) {
  packs_.release(0);
  for (auto& of_product : pieces_) {
    for (Piece& piece : of_product) {
      const TensorView a = block_.view(block_.specs()[piece.a]), b = block_.view(block_.specs()[piece.b]);
      piece.packed_a = pack_thin(stream, a, false, packs_);
      piece.packed_at = pack_thin(stream, a, true, packs_);
      piece.packed_bt = pack_thin(stream, b, true, packs_);
    }
  }
  for (std::optional<OfExperts>& of : experts_) {
    if (of) of->matrices.pack(stream, packs_);
  }
}

void Adapters::add(const Stream& stream, int64_t layer, ExpertProduct product, int64_t expert, const TensorView& w, Arena& scratch) const {
  if (const OfExperts* of = experts(layer, product)) of->matrices.add(stream, config_.scale(), expert, w, scratch);
}

void Adapters::gradient(const Stream& stream, int64_t layer, ExpertProduct product, const ExpertPairs& pairs, TensorBlock& grads, Arena& scratch) const {
  const OfExperts* of = experts(layer, product);
  if (of) of->matrices.gradient(stream, config_.scale(), pairs, grads.view(grads.specs()[of->a]), grads.view(grads.specs()[of->b]), scratch);
}

void Adapters::add(const Stream& stream, int64_t layer, Product product, const TensorView& w, Arena& scratch) const {
  for (const Piece& piece : pieces(layer, product)) {
    const int64_t mark = scratch.mark();
    const TensorView b = block_.view(block_.specs()[piece.b]);
    const TensorView scaled = scratch.take_view(activation_dtype(stream), {b.dim(0), b.dim(1)});
    kernels::cast(stream, {.from = b, .to = scaled});
    scale_rows(stream, config_.scale(), scaled);
    const TensorView rows = f32(w.as<float>() + piece.first * w.dim(1), {b.dim(0), w.dim(1)});
    kernels::linear(stream, {.x = scaled, .w = piece.packed_at, .bias = {}, .y = rows, .accumulate = true, .scratch = &scratch});
    scratch.release(mark);
  }
}

void Adapters::gradient(const Stream& stream, int64_t layer, Product product, const TensorView& dy, const TensorView& x,
                        TensorBlock& grads, Arena& scratch) const {
  const int64_t mark = scratch.mark();
  const TensorView thin = scratch.take_view(activation_dtype(stream), {x.dim(0), config_.rank});
  const auto product_of = [&](const TensorView& from, const PackedMatrix& w) {
    kernels::linear(stream, {.x = from, .w = w, .bias = {}, .y = thin, .scratch = &scratch});
    scale_rows(stream, config_.scale(), thin);
  };
  for (const Piece& piece : pieces(layer, product)) {
    const TensorView da = grads.view(grads.specs()[piece.a]), db = grads.view(grads.specs()[piece.b]);
    const TensorView dy_rows = column_view(dy, piece.first, db.dim(0));
    product_of(x, piece.packed_a);
    kernels::linear_grad_weight(stream, {.dy = dy_rows, .x = thin, .dw = db, .dbias = {}});
    product_of(dy_rows, piece.packed_bt);
    kernels::linear_grad_weight(stream, {.dy = thin, .x = x, .dw = da, .dbias = {}});
  }
  scratch.release(mark);
}

int64_t adapter_pack_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config) {
  // On a GPU the packed transpose of a matrix is the packed matrix itself, marked as transposed.
  const bool turned = !stream.is_cuda();
  const int64_t r = config.rank;
  int64_t bytes = 0;
  for (const auto& layer : chosen(model, config)) {
    for (const Target& t : layer) {
      if (t.experts) {
        bytes += sizes_of(t, model, config).packed_bytes(stream);
        continue;
      }
      bytes += packed_bytes(stream, r, t.k) + (turned ? packed_bytes(stream, t.k, r) + packed_bytes(stream, r, t.n)
                                                      : packed_bytes(stream, r, t.k) + packed_bytes(stream, t.n, r));
    }
  }
  return bytes;
}

int64_t adapter_form_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config) {
  return most_of(chosen(model, config), [&](const Target& t) {
    if (t.experts) return sizes_of(t, model, config).form_bytes(stream);
    return Arena::rounded(t.n * config.rank * dtype_bytes(activation_dtype(stream))) + kernels::linear_scratch_bytes(stream, t.n, t.k, config.rank);
  });
}

int64_t adapter_gradient_bytes(const Stream& stream, const ModelConfig& model, const AdapterConfig& config, int64_t tokens) {
  const int64_t most = most_of(chosen(model, config), [&](const Target& t) {
    if (t.experts) return sizes_of(t, model, config).gradient_bytes(stream, tokens * model.experts.chosen);
    return std::max(kernels::linear_scratch_bytes(stream, tokens, config.rank, t.k), kernels::linear_scratch_bytes(stream, tokens, config.rank, t.n));
  });
  return Arena::rounded(tokens * config.rank * dtype_bytes(activation_dtype(stream))) + most;
}

}  // namespace hone::model
