// Transposed packs take the predicted bytes, and a product with one equals the product with the transposed
// matrix.
#include "check.h"
#include "model/network.h"
#include "model/reference.h"

namespace model_transposed_weights_test {
namespace {

using namespace hone;
using kernels::PackedMatrix;

/// Checks, by f64 sums, that a product with `turned` is d W for a random row d.
void expect_turned(const std::string& name, const TensorView& w, const PackedMatrix& turned) {
  EXPECT_TRUE(turned.n == w.dim(1) && turned.k == w.dim(0));
  const std::vector<float> d = test::random_floats(w.dim(0));
  std::vector<float> out = test::poison(w.dim(1));
  kernels::linear({}, {.x = f32(d.data(), {1, w.dim(0)}), .w = turned, .bias = {}, .y = f32(out.data(), {1, w.dim(1)})});
  for (int64_t i = 0; i < w.dim(1); ++i) {
    double sum = 0.0;
    for (int64_t n = 0; n < w.dim(0); ++n) sum += double(d[size_t(n)]) * double(w.row<float>(n)[i]);
    if (!(std::fabs(double(out[size_t(i)]) - sum) < 1e-4)) test::report(__FILE__, __LINE__, name + ": another product");
  }
}

/// expect_turned for one expert, whose stored matrix may already be transposed.
void expect_expert(const std::string& name, const TensorView& all, size_t e, const PackedMatrix& packed, bool lies_turned, const PackedMatrix& turned) {
  const TensorView w = model::matrix_of(all, e, packed, lies_turned);
  if (!lies_turned) return expect_turned(name, w, turned);
  std::vector<float> upright(size_t(w.numel()));
  for (int64_t r = 0; r < w.dim(0); ++r)
    for (int64_t c = 0; c < w.dim(1); ++c) upright[size_t(c * w.dim(0) + r)] = w.row<float>(r)[c];
  expect_turned(name, f32(upright.data(), {w.dim(1), w.dim(0)}), turned);
}

TEST(every_matrix_is_turned_and_takes_what_is_said) {
  for (const auto& [name, config] : test::switch_configs()) {
    model::Parameters parameters(config);
    test::roughen(parameters, 4);
    const auto weights = model::WeightSnapshot::make({}, parameters, 1);
    Arena arena(model::transposed_layer_bytes({}, config, DType::kF32), "test");
    const PackedMatrix head = model::transposed_head({}, *weights, parameters);
    EXPECT_TRUE(head.panels == parameters.head().data && head.n == config.width && head.k == config.vocabulary && head.transposed);
    for (int64_t l = 0; l < config.layers; ++l) {
      const model::LayerViews& from = parameters.layer(l);
      arena.release(0);
      const model::TransposedLayer to = model::transpose_layer({}, weights->layers[size_t(l)], arena);
      expect_turned(name, from.qkv, to.qkv), expect_turned(name, from.o, to.o);
      EXPECT_EQ(to.gate_up.panels == nullptr, from.gate_up.empty());
      if (!from.gate_up.empty()) expect_turned(name, from.gate_up, to.gate_up), expect_turned(name, from.down, to.down);
      EXPECT_EQ(int64_t(to.experts.down.size()), config.mixes(l) ? config.experts.count : 0);
      if (config.mixes(l)) expect_turned(name, from.router, to.experts.router);
      for (size_t e = 0; e < to.experts.down.size(); ++e) {
        const model::PackedLayer& packed = weights->layers[size_t(l)];
        expect_expert(name, from.experts_gate_up, e, packed.experts_gate_up[e], packed.experts_turned, to.experts.gate_up[e]);
        expect_expert(name, from.experts_down, e, packed.experts_down[e], packed.experts_turned, to.experts.down[e]);
      }
    }
    EXPECT_EQ(arena.peak(), arena.capacity());  // the layer that needs the most memory fills the arena
  }
}

}  // namespace
}  // namespace model_transposed_weights_test
