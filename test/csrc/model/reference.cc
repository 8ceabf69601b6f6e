#include "model/reference.h"

namespace hone::test {

Reference::Reference(const model::TensorBlock& from) : config(from.config()) {
  for (const auto& spec : from.specs()) {
    const float* data = from.view(spec).as<float>();
    tensors[spec.name] = Vector(data, data + spec.numel());
  }
}

const Vector& Reference::weight(int64_t layer, const char* name) const {
  return tensors.at("model.layers." + std::to_string(layer) + "." + name);
}

Vector Reference::apply(const Vector& w, const double* x, int64_t k, const Vector* bias) {
  Vector y(w.size() / size_t(k));
  for (size_t n = 0; n < y.size(); ++n) {
    double sum = bias ? (*bias)[n] : 0.0;
    for (int64_t i = 0; i < k; ++i) sum += w[n * size_t(k) + size_t(i)] * x[i];
    y[n] = sum;
  }
  return y;
}

Vector Reference::norm(const double* x, const Vector& w, bool centered) const {
  double square = 0.0, mean = 0.0;
  for (size_t i = 0; i < w.size(); ++i) mean += centered ? x[i] / double(w.size()) : 0.0;
  for (size_t i = 0; i < w.size(); ++i) square += (x[i] - mean) * (x[i] - mean);
  const double r = 1.0 / std::sqrt(square / double(w.size()) + double(config.norm_eps));
  Vector y(w.size());
  for (size_t i = 0; i < w.size(); ++i) y[i] = (x[i] - mean) * r * (w[i] + double(config.norm_offset));
  return y;
}

void Reference::rotate(double* head, int64_t layer, int64_t position) const {
  if (!config.rotates(layer)) return;
  model::RopeConfig rope = config.rope;
  if (config.sliding_theta > 0 && config.slides(layer)) {
    rope = {};
    rope.theta = config.sliding_theta;
  }
  const bool own = config.sliding_theta > 0 && config.slides(layer);
  const std::vector<double> frequency = model::rope_frequencies(rope, own ? config.sliding_rotary_dim() : config.rotary_dim());
  const double factor = model::rope_attention_factor(rope);
  const size_t half = frequency.size();
  for (size_t i = 0; i < half; ++i) {
    const double c = factor * std::cos(double(position) * frequency[i]), s = factor * std::sin(double(position) * frequency[i]);
    double& low = head[rope.interleaved ? 2 * i : i];
    double& high = head[rope.interleaved ? 2 * i + 1 : i + half];
    const double a = low, b = high;
    low = a * c - b * s;
    high = b * c + a * s;
  }
}

Reference::Projected Reference::project(int64_t layer, const Vector& normed, int64_t position) const {
  const size_t C = size_t(config.width), q = size_t(config.q_width()), k = size_t(config.kv_width()), D = size_t(config.head_dim_of(layer));
  const auto linear = [&](const char* name) {
    const std::string stem = std::string("self_attn.") + name + "_proj.";
    const Vector* bias = config.qkv_bias ? &weight(layer, (stem + "bias").c_str()) : nullptr;
    if (!config.fused_qkv) return apply(weight(layer, (stem + "weight").c_str()), normed.data(), config.width, bias);
    const Vector& whole = weight(layer, "self_attn.qkv_proj.weight");
    const size_t first = *name == 'q' ? 0 : *name == 'k' ? q : q + k, rows = *name == 'q' ? q : k;
    return apply(Vector(whole.begin() + long(first * C), whole.begin() + long((first + rows) * C)), normed.data(), config.width);
  };
  Projected p{linear("q"), linear("k"), config.keys_are_values(layer) ? linear("k") : linear("v")};
  for (size_t at = 0; at < p.v.size() && config.value_norm; at += D) {
    const Vector y = norm(&p.v[at], Vector(D, 1.0 - double(config.norm_offset)));
    std::copy(y.begin(), y.end(), p.v.begin() + long(at));
  }
  if (config.qk_norm_whole) {
    p.q = norm(p.q.data(), weight(layer, "self_attn.q_norm.weight"));
    p.k = norm(p.k.data(), weight(layer, "self_attn.k_norm.weight"));
  }
  const auto finish = [&](Vector& x, const char* norm_name) {
    for (size_t at = 0; at < x.size(); at += D) {
      if (config.qk_norm_last) rotate(&x[at], layer, position);
      if (config.qk_norm && !config.qk_norm_whole) {
        const Vector y = norm(&x[at], weight(layer, norm_name));
        std::copy(y.begin(), y.end(), x.begin() + long(at));
      }
      if (!config.qk_norm_last) rotate(&x[at], layer, position);
    }
  };
  finish(p.q, config.qk_norm_last ? "self_attn.query_layernorm.weight" : "self_attn.q_norm.weight");
  finish(p.k, config.qk_norm_last ? "self_attn.key_layernorm.weight" : "self_attn.k_norm.weight");
  return p;
}

Vector Reference::attend(const std::vector<Projected>& rows, int64_t layer, size_t t) const {
  const size_t D = size_t(config.head_dim_of(layer)), group = size_t(config.heads / config.kv_heads_of(layer));
  const size_t window = size_t(config.window(layer)), first = window > 0 && t + 1 > window ? t + 1 - window : 0;
  const double scale = config.attention_multiplier > 0 ? config.attention_multiplier : 1.0 / std::sqrt(config.query_scalar > 0 ? config.query_scalar : double(D));
  Vector out(size_t(config.q_width(layer)));
  for (size_t h = 0; h < size_t(config.heads); ++h) {
    const size_t kv = h / group * D;
    Vector score;
    for (size_t j = first; j <= t; ++j) {
      double dot = 0.0;
      for (size_t d = 0; d < D; ++d) dot += rows[t].q[h * D + d] * rows[j].k[kv + d];
      score.push_back(capped(dot * scale, config.attention_softcap));
    }
    const double top = *std::max_element(score.begin(), score.end());
    double total = config.sinks ? std::exp(weight(layer, "self_attn.sinks")[h] - top) : 0.0;
    for (double& s : score) total += s = std::exp(s - top);
    for (size_t j = first; j <= t; ++j)
      for (size_t d = 0; d < D; ++d) out[h * D + d] += score[j - first] / total * rows[j].v[kv + d];
  }
  return out;
}

double Reference::gate(double g) const {
  if (!config.gelu) return g / (1.0 + std::exp(-g));
  return 0.5 * g * (1.0 + std::tanh(std::sqrt(2.0 / M_PI) * (g + 0.044715 * g * g * g)));
}

Vector Reference::entering(const Vector& x, int64_t layer, const char* name) const {
  return config.norms_before() ? norm(x.data(), weight(layer, name), config.norm_centered) : x;
}

void Reference::add(Vector& x, Vector added, int64_t layer, const char* name) const {
  if (config.norms_after()) added = norm(added.data(), weight(layer, name), config.norm_centered);
  for (size_t i = 0; i < x.size(); ++i) x[i] += double(config.residual_scale) * added[i];
}

Vector Reference::gated(Vector gate_up, const Vector& down) const {
  const size_t F = gate_up.size() / 2;
  for (size_t i = 0; i < F; ++i) gate_up[i] = gate(gate_up[i]) * gate_up[F + i];
  return apply(down, gate_up.data(), int64_t(F));
}

Vector Reference::router_logits(int64_t layer, const Vector& x) const {
  const model::ExpertsConfig& e = config.experts;
  const char* const router = config.arch == "mixtral" ? "block_sparse_moe.gate.weight" : e.turned ? "mlp.router.weight" : "mlp.gate.weight";
  return apply(weight(layer, router), x.data(), config.width, e.biases ? &weight(layer, "mlp.router.bias") : nullptr);
}

std::vector<std::pair<int64_t, double>> Reference::route(int64_t layer, const Vector& x) const {
  const model::ExpertsConfig& e = config.experts;
  Vector scores = router_logits(layer, x);
  double total = 0.0;
  for (double& s : scores) total += s = e.sigmoid ? 1.0 / (1.0 + std::exp(-s)) : std::exp(s);
  if (!e.sigmoid) for (double& s : scores) s /= total;
  Vector wanted = scores;
  if (e.correction) for (size_t i = 0; i < wanted.size(); ++i) wanted[i] += weight(layer, "mlp.gate.e_score_correction_bias")[i];
  const auto best_first = [](const Vector& worth) {
    std::vector<size_t> order(worth.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return worth[a] > worth[b]; });
    return order;
  };
  const size_t groups = size_t(e.groups), size = wanted.size() / groups;
  if (groups > 1) {
    Vector worth;
    for (size_t g = 0; g < groups; ++g) {
      Vector members(wanted.begin() + long(g * size), wanted.begin() + long((g + 1) * size));
      std::sort(members.begin(), members.end(), std::greater<>());
      worth.push_back(members[0] + members[1]);
    }
    const auto order = best_first(worth);
    for (size_t g = size_t(e.chosen_groups); g < groups; ++g) std::fill_n(wanted.begin() + long(order[g] * size), size, -INFINITY);
  }
  auto order = best_first(wanted);
  if (const std::vector<int32_t> chosen = given ? given(layer) : std::vector<int32_t>{}; !chosen.empty()) order.assign(chosen.begin(), chosen.end());
  std::vector<std::pair<int64_t, double>> out;
  double sum = 0.0;
  for (size_t j = 0; j < size_t(e.chosen); ++j) out.emplace_back(int64_t(order[j]), scores[order[j]]), sum += scores[order[j]];
  for (auto& [expert, w] : out) w *= e.scaling / (e.normalized ? sum : 1.0);
  return out;
}

Vector Reference::turned(int64_t layer, const std::string& name, int64_t expert, const Vector& x) const {
  const Vector& w = weight(layer, ("mlp.experts." + name).c_str());
  const Vector& bias = weight(layer, ("mlp.experts." + name + "_bias").c_str());
  const size_t n = bias.size() / size_t(config.experts.count), first = size_t(expert) * x.size() * n;
  Vector y(bias.begin() + long(size_t(expert) * n), bias.begin() + long(size_t(expert + 1) * n));
  for (size_t i = 0; i < x.size(); ++i)
    for (size_t j = 0; j < n; ++j) y[j] += x[i] * w[first + i * n + j];
  return y;
}

Vector Reference::limited_expert(int64_t layer, int64_t expert, const Vector& x) const {
  const Vector pairs = turned(layer, "gate_up_proj", expert, x);
  Vector inner;
  for (size_t i = 0; i < pairs.size(); i += 2) {
    const double g = std::min(pairs[i], config.experts.limit), u = std::clamp(pairs[i + 1], -config.experts.limit, config.experts.limit);
    inner.push_back((u + 1.0) * g / (1.0 + std::exp(-1.702 * g)));
  }
  return turned(layer, "down_proj", expert, inner);
}

void Reference::mix(int64_t layer, const Vector& x, Vector& out) const {
  const bool mixtral = config.arch == "mixtral";
  for (const auto& [expert, w] : route(layer, x)) {
    if (!config.experts.turned) continue;
    const Vector one = limited_expert(layer, expert, x);
    for (size_t i = 0; i < out.size(); ++i) out[i] += w * one[i];
  }
  if (config.experts.turned) return;
  for (const auto& [expert, w] : route(layer, x)) {
    const std::string stem = (mixtral ? "block_sparse_moe.experts." : "mlp.experts.") + std::to_string(expert) + ".";
    const auto matrix = [&](const char* name, const char* of_mixtral) -> const Vector& { return weight(layer, (stem + (mixtral ? of_mixtral : name) + ".weight").c_str()); };
    Vector both = apply(matrix("gate_proj", "w1"), x.data(), config.width);
    const Vector up = apply(matrix("up_proj", "w3"), x.data(), config.width);
    both.insert(both.end(), up.begin(), up.end());
    const Vector one = gated(both, matrix("down_proj", "w2"));
    for (size_t i = 0; i < out.size(); ++i) out[i] += w * one[i];
  }
}

Vector Reference::mlp(int64_t layer, const Vector& x) const {
  if (entered) entered(layer, x);
  Vector out(size_t(config.width), 0.0);
  if (config.mixes(layer)) mix(layer, x, out);
  if (config.mlp_width_of(layer) == 0) return out;
  const bool hybrid = config.arch == "granitemoehybrid";
  const std::string stem = !config.mixes(layer) ? "mlp." : config.experts.shared_gate ? "mlp.shared_expert." : "mlp.shared_experts.";
  Vector both;
  if (config.fused_gate_up) {
    both = apply(weight(layer, hybrid ? "shared_mlp.input_linear.weight" : "mlp.gate_up_proj.weight"), x.data(), config.width);
  } else {
    both = apply(weight(layer, (stem + "gate_proj.weight").c_str()), x.data(), config.width);
    const Vector up = apply(weight(layer, (stem + "up_proj.weight").c_str()), x.data(), config.width);
    both.insert(both.end(), up.begin(), up.end());
  }
  Vector dense = gated(both, weight(layer, hybrid ? "shared_mlp.output_linear.weight" : (stem + "down_proj.weight").c_str()));
  const bool opened = config.mixes(layer) && config.experts.shared_gate;
  const double share = opened ? 1.0 / (1.0 + std::exp(-apply(weight(layer, "mlp.shared_expert_gate.weight"), x.data(), config.width)[0])) : 1.0;
  for (size_t i = 0; i < out.size(); ++i) out[i] += share * dense[i];
  return out;
}

std::vector<Vector> Reference::hidden(const std::vector<int32_t>& ids) const {
  const bool glm = config.arch == "glm4", around = config.norms == model::ModelConfig::Norms::kAround;
  const char* const after_attention = glm ? "post_self_attn_layernorm.weight" : "post_attention_layernorm.weight";
  const char* const before_mlp = around && !glm ? "pre_feedforward_layernorm.weight" : "post_attention_layernorm.weight";
  const char* const after_mlp = glm ? "post_mlp_layernorm.weight" : "post_feedforward_layernorm.weight";
  const size_t C = size_t(config.width);
  const Vector& table = tensors.at("model.embed_tokens.weight");
  std::vector<Vector> x;
  for (int32_t id : ids) {
    x.emplace_back(table.begin() + long(size_t(id) * C), table.begin() + long(size_t(id + 1) * C));
    for (double& v : x.back()) v *= double(config.embedding_scale);
  }
  for (int64_t l = 0; l < config.layers; ++l) {
    std::vector<Projected> rows;
    for (size_t t = 0; t < x.size(); ++t) rows.push_back(project(l, entering(x[t], l, "input_layernorm.weight"), int64_t(t)));
    for (size_t t = 0; t < x.size(); ++t) {
      const Vector entered_layer = x[t];
      add(x[t], apply(weight(l, "self_attn.o_proj.weight"), attend(rows, l, t).data(), config.q_width(l), config.o_bias ? &weight(l, "self_attn.o_proj.bias") : nullptr), l, after_attention);
      const Vector input = config.parallel ? entering(entered_layer, l, "input_layernorm.weight") : entering(x[t], l, before_mlp);
      add(x[t], mlp(l, input), l, after_mlp);
      for (double& v : x[t]) v *= config.layer_scalars ? weight(l, "layer_scalar")[0] : 1.0;
    }
  }
  for (Vector& row : x) {
    row = norm(row.data(), tensors.at("model.norm.weight"), config.norm_centered);
    for (double& v : row) v /= config.logits_scaling;
  }
  return x;
}

Reference::Predictions Reference::predict(const std::vector<int32_t>& ids, double temperature) const {
  Predictions out{Vector(ids.size()), Vector(ids.size())};
  const std::vector<Vector> h = hidden(ids);
  for (size_t t = 1; t < ids.size(); ++t) {
    Vector z = apply(head(), h[t - 1].data(), config.width);
    double top = -INFINITY, total = 0.0;
    for (double& v : z) top = std::max(top, v = capped(v, config.logit_softcap) / temperature);
    for (double v : z) total += std::exp(v - top);
    const double lse = top + std::log(total);
    out.logprob[t] = z[size_t(ids[t])] - lse;
    for (double v : z) out.entropy[t] -= std::exp(v - lse) * (v - lse);
  }
  return out;
}

}  // namespace hone::test
