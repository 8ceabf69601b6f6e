// Lists which elements of a model's tensors a LoRA adapter changes.
#pragma once

#include <string>
#include <vector>

#include "model/layer.h"
#include "model/reference.h"
#include "trainer/trainer.h"

namespace hone::test {

/// A part of a weight matrix that has its own A and B: rows [first, first + n) of the product's matrix. In
/// the model's tensor it begins at element `at`, and is transposed ([k, n]) if `turned`.
struct AdapterPart {
  std::string tensor;
  int64_t at, first, n, k, expert, experts;
  bool turned;

  int64_t index(int64_t row, int64_t column) const { return at + (turned ? column * n + row : row * k + column); }
  int64_t a(int64_t j, int64_t column, int64_t rank) const { return (expert * rank + j) * k + column; }
  int64_t b(int64_t row, int64_t j, int64_t rank) const { return (first + row) * rank * experts + j * experts + expert; }
};

/// The parts of the model's tensors that the adapter pair `a`, `b` changes.
inline std::vector<AdapterPart> adapter_parts(const model::ModelConfig& c, const model::TensorSpec& a, const model::TensorSpec& b) {
  const std::string stem = a.name.substr(0, a.name.find(".lora_A"));
  const size_t module = stem.find(".experts");
  const int64_t n = b.shape[0], k = a.shape[1], E = c.experts.count;
  if (module == std::string::npos) return {{stem + ".weight", 0, 0, n, k, 0, 1, false}};
  const bool opens = stem.ends_with(".base_layer");
  const model::LayerNames names = model::layer_names(c);
  const std::string sparse = stem.substr(0, stem.rfind('.', module - 1) + 1) + names.sparse, experts = sparse + ".experts.";
  std::vector<AdapterPart> out;
  for (int64_t e = 0; e < E; ++e) {
    const auto part = [&](const char* name, int64_t first, int64_t rows) { out.push_back({experts + std::to_string(e) + "." + name + ".weight", 0, first, rows, k, e, E, false}); };
    if (c.experts.joined) out.push_back({sparse + (opens ? ".input_linear.weight" : ".output_linear.weight"), e * n * k, 0, n, k, e, E, false});
    else if (c.experts.turned) out.push_back({experts + (opens ? "gate_up_proj" : "down_proj"), e * n * k, 0, n, k, e, E, true});
    else if (opens && c.squared_relu) part(names.expert_up, 0, n);
    else if (opens) part(names.expert_gate, 0, n / 2), part(names.expert_up, n / 2, n / 2);
    else part(names.expert_down, 0, n);
  }
  return out;
}

/// The f64 reference model with the trainer's weights merged with its adapters: W + s B A.
inline Reference merged(trainer::Trainer& trainer, const model::AdapterConfig& adapters) {
  Reference reference(trainer.parameters());
  const model::TensorBlock& block = trainer.trained();
  const int64_t r = adapters.rank;
  for (size_t i = 0; i < block.specs().size(); i += 2) {
    const model::TensorSpec &a = block.specs()[i], &b = block.specs()[i + 1];
    const float *pa = block.view(a).as<float>(), *pb = block.view(b).as<float>();
    for (const AdapterPart& part : adapter_parts(trainer.parameters().config(), a, b)) {
      auto& w = reference.tensors.at(part.tensor);
      for (int64_t o = 0; o < part.n; ++o) {
        for (int64_t c = 0; c < part.k; ++c) {
          double sum = 0.0;
          for (int64_t j = 0; j < r; ++j) sum += double(pb[part.b(o, j, r)]) * double(pa[part.a(j, c, r)]);
          w[size_t(part.index(o, c))] += double(adapters.alpha) / double(r) * sum;
        }
      }
    }
  }
  return reference;
}

}  // namespace hone::test
