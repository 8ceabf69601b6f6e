// A plain f64 decoder, written from the formulas and sharing nothing with csrc: the oracle of the model tests.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "model/parameters.h"
#include "model/rope_table.h"

namespace hone::test {

using Vector = std::vector<double>;

/// Parameters by name, in f64, so that one element can be moved by a finite difference.
struct Reference {
  model::ModelConfig config;
  std::map<std::string, Vector> tensors;

  explicit Reference(const model::Parameters& from) : config(from.config()) {
    for (const auto& spec : from.specs()) {
      const float* data = from.view(spec).as<float>();
      tensors[spec.name] = Vector(data, data + spec.numel());
    }
  }
  const Vector& weight(int64_t layer, const char* name) const {
    return tensors.at("model.layers." + std::to_string(layer) + "." + name);
  }
  const Vector& head() const { return tensors.at(config.tied_head ? "model.embed_tokens.weight" : "lm_head.weight"); }

  /// y[n] = w[n, k] x[k] (+ bias)
  static Vector apply(const Vector& w, const double* x, int64_t k, const Vector* bias = nullptr) {
    Vector y(w.size() / size_t(k));
    for (size_t n = 0; n < y.size(); ++n) {
      double sum = bias ? (*bias)[n] : 0.0;
      for (int64_t i = 0; i < k; ++i) sum += w[n * size_t(k) + size_t(i)] * x[i];
      y[n] = sum;
    }
    return y;
  }
  Vector norm(const double* x, const Vector& w) const {
    double square = 0.0;
    for (size_t i = 0; i < w.size(); ++i) square += x[i] * x[i];
    const double r = 1.0 / std::sqrt(square / double(w.size()) + double(config.norm_eps));
    Vector y(w.size());
    for (size_t i = 0; i < w.size(); ++i) y[i] = x[i] * r * w[i];
    return y;
  }
  void rotate(double* head, int64_t position) const {
    const std::vector<double> frequency = model::rope_frequencies(config.rope, config.head_dim);
    const double factor = model::rope_attention_factor(config.rope);
    const size_t half = frequency.size();
    for (size_t i = 0; i < half; ++i) {
      const double c = factor * std::cos(double(position) * frequency[i]), s = factor * std::sin(double(position) * frequency[i]);
      const double a = head[i], b = head[i + half];
      head[i] = a * c - b * s;
      head[i + half] = b * c + a * s;
    }
  }

  struct Projected { Vector q, k, v; };
  Projected project(int64_t layer, const Vector& normed, int64_t position) const {
    const bool bias = config.qkv_bias;
    const auto linear = [&](const char* w, const char* b) {
      return apply(weight(layer, w), normed.data(), config.width, bias ? &weight(layer, b) : nullptr);
    };
    Projected p{linear("self_attn.q_proj.weight", "self_attn.q_proj.bias"),
                linear("self_attn.k_proj.weight", "self_attn.k_proj.bias"),
                linear("self_attn.v_proj.weight", "self_attn.v_proj.bias")};
    const auto finish = [&](Vector& x, const char* norm_name) {
      for (size_t at = 0; at < x.size(); at += size_t(config.head_dim)) {
        if (config.qk_norm) {
          const Vector y = norm(&x[at], weight(layer, norm_name));
          std::copy(y.begin(), y.end(), x.begin() + long(at));
        }
        rotate(&x[at], position);
      }
    };
    finish(p.q, "self_attn.q_norm.weight");
    finish(p.k, "self_attn.k_norm.weight");
    return p;
  }

  Vector attend(const std::vector<Projected>& rows, size_t t) const {
    const size_t D = size_t(config.head_dim), group = size_t(config.heads / config.kv_heads);
    const size_t first = config.sliding_window > 0 && t + 1 > size_t(config.sliding_window) ? t + 1 - size_t(config.sliding_window) : 0;
    Vector out(size_t(config.q_width()));
    for (size_t h = 0; h < size_t(config.heads); ++h) {
      const size_t kv = h / group * D;
      Vector score;
      for (size_t j = first; j <= t; ++j) {
        double dot = 0.0;
        for (size_t d = 0; d < D; ++d) dot += rows[t].q[h * D + d] * rows[j].k[kv + d];
        score.push_back(dot / std::sqrt(double(D)));
      }
      const double top = *std::max_element(score.begin(), score.end());
      double total = 0.0;
      for (double& s : score) total += s = std::exp(s - top);
      for (size_t j = first; j <= t; ++j)
        for (size_t d = 0; d < D; ++d) out[h * D + d] += score[j - first] / total * rows[j].v[kv + d];
    }
    return out;
  }

  /// Hidden states after the final norm, one per token of a single sequence.
  std::vector<Vector> hidden(const std::vector<int32_t>& ids) const {
    const size_t C = size_t(config.width);
    const Vector& table = tensors.at("model.embed_tokens.weight");
    std::vector<Vector> x;
    for (int32_t id : ids) x.emplace_back(table.begin() + long(size_t(id) * C), table.begin() + long(size_t(id + 1) * C));
    for (int64_t l = 0; l < config.layers; ++l) {
      std::vector<Projected> rows;
      for (size_t t = 0; t < x.size(); ++t)
        rows.push_back(project(l, norm(x[t].data(), weight(l, "input_layernorm.weight")), int64_t(t)));
      for (size_t t = 0; t < x.size(); ++t) {
        const Vector o = apply(weight(l, "self_attn.o_proj.weight"), attend(rows, t).data(), config.q_width());
        for (size_t i = 0; i < C; ++i) x[t][i] += o[i];
        const Vector n = norm(x[t].data(), weight(l, "post_attention_layernorm.weight"));
        Vector gate = apply(weight(l, "mlp.gate_proj.weight"), n.data(), config.width);
        const Vector up = apply(weight(l, "mlp.up_proj.weight"), n.data(), config.width);
        for (size_t i = 0; i < gate.size(); ++i) gate[i] = gate[i] / (1.0 + std::exp(-gate[i])) * up[i];
        const Vector down = apply(weight(l, "mlp.down_proj.weight"), gate.data(), config.mlp_width);
        for (size_t i = 0; i < C; ++i) x[t][i] += down[i];
      }
    }
    for (Vector& row : x) row = norm(row.data(), tensors.at("model.norm.weight"));
    return x;
  }

  /// logprob[t] = log p(ids[t] | before), entropy[t] of the distribution that predicts ids[t]; t = 0 is 0.
  struct Predictions { Vector logprob, entropy; };
  Predictions predict(const std::vector<int32_t>& ids, double temperature) const {
    Predictions out{Vector(ids.size()), Vector(ids.size())};
    const std::vector<Vector> h = hidden(ids);
    for (size_t t = 1; t < ids.size(); ++t) {
      Vector z = apply(head(), h[t - 1].data(), config.width);
      double top = -INFINITY, total = 0.0;
      for (double& v : z) top = std::max(top, v /= temperature);
      for (double v : z) total += std::exp(v - top);
      const double lse = top + std::log(total);
      out.logprob[t] = z[size_t(ids[t])] - lse;
      for (double v : z) out.entropy[t] -= std::exp(v - lse) * (v - lse);
    }
    return out;
  }
};

/// A tiny decoder whose every size is awkward for vector code.
inline model::ModelConfig tiny_config() {
  model::ModelConfig c;
  c.arch = "llama";
  c.vocabulary = 37;
  c.width = 20;
  c.layers = 2;
  c.heads = 4;
  c.kv_heads = 2;
  c.head_dim = 6;
  c.mlp_width = 28;
  c.max_positions = 64;
  return c;
}

/// The switches of the decoder family, each with the arch row that has it.
inline std::vector<std::pair<const char*, model::ModelConfig>> switch_configs() {
  const model::ModelConfig base = tiny_config();
  std::vector<std::pair<const char*, model::ModelConfig>> all{{"untied GQA", base}};
  const auto add = [&](const char* name, auto change) {
    model::ModelConfig c = base;
    change(c);
    all.emplace_back(name, c);
  };
  add("tied, one kv head", [](auto& c) { c.tied_head = true; c.kv_heads = 1; });
  add("qkv bias, tied", [](auto& c) { c.arch = "qwen2"; c.qkv_bias = true; c.tied_head = true; });
  add("qk norm, no grouping", [](auto& c) { c.arch = "qwen3"; c.qk_norm = true; c.kv_heads = 4; });
  add("sliding window", [](auto& c) { c.arch = "mistral"; c.sliding_window = 3; });
  add("yarn", [](auto& c) {
    c.arch = "mistral";
    c.rope.kind = model::RopeConfig::Kind::kYarn;
    c.rope.factor = 4.0;
    c.rope.original_max_positions = 8;
  });
  return all;
}

/// Larger than the default initialisation, so that norms, softmax and biases all bend.
inline void roughen(model::Parameters& parameters, uint64_t seed) {
  parameters.initialize(seed);
  std::mt19937_64 random(seed);
  std::normal_distribution<float> normal(0.0f, 1.0f);
  for (const auto& spec : parameters.specs()) {
    float* data = parameters.view(spec).as<float>();
    for (int64_t i = 0; i < spec.numel(); ++i) {
      if (spec.shape.size() == 1) data[i] += 0.2f * normal(random);
      else if (!spec.matrix) data[i] = 0.5f * normal(random);
      else data[i] *= 1.5f;
    }
  }
}

}  // namespace hone::test
