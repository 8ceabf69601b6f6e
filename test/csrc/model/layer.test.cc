// One layer computed in place, and with stored activations, has the same bits; views of heads; checks of
// positions. Faults put into the code: raw q and k saved after their norm, a view that forgets its stride.
// Each is detected.
#include "model/layer.h"

#include "check.h"
#include "kernels/attention.h"
#include "model/reference.h"

namespace model_layer_test {
namespace {

using namespace hone;

/// Attention in which every row attends only to itself: out = v of its key head.
class SelfOnly final : public model::AttentionSource {
 public:
  kernels::DeltaRuns runs(int64_t) override { return {}; }  // not called by these layers
  void attend(const Stream&, int64_t, const TensorView& q, const TensorView&, const TensorView& v, const TensorView&,
              const TensorView& out, const TensorView&) override {
    const int64_t H = q.dim(1), K = v.dim(1), D = q.dim(2);
    for (int64_t r = 0; r < q.dim(0); ++r)
      for (int64_t h = 0; h < H; ++h)
        for (int64_t d = 0; d < D; ++d) out.row<float>(r)[h * D + d] = v.row<float>(r)[h * K / H * D + d];
  }
};

struct Layer {
  model::ModelConfig config;
  model::Parameters parameters;
  std::shared_ptr<const model::WeightSnapshot> weights;
  std::vector<int32_t> positions;
  std::vector<float> x;
  Arena arena{1 << 20, "test"};

  Layer(const model::ModelConfig& c, int64_t rows) : config(c), parameters(c), x(test::random_floats(rows * c.width)) {
    test::roughen(parameters, test::random()());
    weights = model::WeightSnapshot::make(Stream{}, parameters, 1);
    for (int64_t r = 0; r < rows; ++r) positions.push_back(int32_t(test::random_int(0, c.max_positions - 1)));
  }
  TensorView take(std::initializer_list<int64_t> dims) {
    const TensorView view = arena.take_view(DType::kF32, dims);
    for (int64_t i = 0; i < view.numel(); ++i) view.as<float>()[i] = NAN;
    return view;
  }
  model::LayerActivations activations(const TensorView& input, const TensorView& middle) {
    const int64_t R = int64_t(positions.size());
    model::LayerActivations act;
    act.input = input;
    act.middle = middle;
    act.qkv = take({R, config.qkv_width(0)});
    act.attn_out = take({R, config.heads, config.head_dim_of(0)});
    act.attn_rows = f32(act.attn_out.as<float>(), {R, config.q_width(0)});
    act.gate_up = take({R, 2 * config.widest_mlp()});
    if (config.mixes()) act.experts = model::take_experts(config, DType::kF32, R, arena);
    return act;
  }
  void run(const model::LayerActivations& act, const TensorView& out) {
    SelfOnly attention;
    const int64_t R = int64_t(positions.size());
    model::layer_forward(Stream{}, config, weights->layers[0], 0, i32(positions.data(), {R}), weights->rope_table(0), attention,
                         act, {take({R, config.width}), take({R, config.widest_mlp()}), take({R, config.width}), &arena}, out);
  }
};

TEST(in_place_and_kept_give_the_same_bits) {
  for (const auto& [name, config] : test::switch_configs()) {
    const int64_t R = 9, C = config.width;
    Layer layer(config, R);
    std::vector<float> start = layer.x;
    const TensorView x = f32(layer.x.data(), {R, C}), input = f32(start.data(), {R, C});
    model::LayerActivations kept = layer.activations(input, layer.take({R, C}));
    if (config.qk_norm) kept.qk_raw = layer.take({R, config.raw_width(0)});
    if (config.norms_after()) kept.attn_added = layer.take({R, C}), kept.mlp_added = layer.take({R, C});
    const TensorView out = layer.take({R, C});
    const std::vector<float> before = start;
    layer.run(kept, out);
    layer.run(layer.activations(x, x), x);
    EXPECT_TRUE(test::same_bits(out.as<float>(), layer.x.data(), R * C));
    EXPECT_TRUE(test::same_bits(start.data(), before.data(), R * C));  // the input is unchanged
  }
}

TEST(raw_queries_and_keys_are_those_before_the_norm) {
  const model::ModelConfig config = test::switch_configs()[3].second;
  const int64_t R = 3, C = config.width;
  Layer layer(config, R);
  const TensorView x = f32(layer.x.data(), {R, C});
  model::LayerActivations act = layer.activations(x, layer.take({R, C}));
  act.qk_raw = layer.take({R, config.q_width() + config.kv_width()});
  layer.run(act, layer.take({R, C}));
  const test::Reference reference(layer.parameters);
  for (int64_t r = 0; r < R; ++r) {
    std::vector<double> row(layer.x.begin() + r * C, layer.x.begin() + (r + 1) * C);
    const auto normed = reference.norm(row.data(), reference.weight(0, "input_layernorm.weight"));
    const auto q = test::Reference::apply(reference.weight(0, "self_attn.q_proj.weight"), normed.data(), C);
    const auto k = test::Reference::apply(reference.weight(0, "self_attn.k_proj.weight"), normed.data(), C);
    for (size_t i = 0; i < q.size(); ++i) EXPECT_NEAR(act.qk_raw.row<float>(r)[i], q[i], 1e-5);
    for (size_t i = 0; i < k.size(); ++i) EXPECT_NEAR(act.qk_raw.row<float>(r)[q.size() + i], k[i], 1e-5);
  }
}

TEST(views_are_columns_of_the_matrix) {
  std::vector<float> matrix(6 * 10);
  const TensorView whole = f32(matrix.data(), {6, 10});
  const TensorView heads = model::head_view(whole, 2, 2, 3), columns = model::column_view(whole, 4, 5);
  EXPECT_EQ(heads.row<float>(3), matrix.data() + 32);
  EXPECT_TRUE(heads.rank == 3 && heads.dim(1) == 2 && heads.dim(2) == 3);
  EXPECT_EQ(columns.row<float>(5), matrix.data() + 54);
  EXPECT_TRUE(columns.rank == 2 && columns.dim(0) == 6 && columns.dim(1) == 5);
}

TEST(a_position_outside_the_table_is_named) {
  for (int32_t bad : {-1, 4}) {
    const std::vector<int32_t> positions{0, 3, bad};
    EXPECT_THROWS(model::check_positions(i32(positions.data(), {3}), 4), Code::kShape);
  }
  const std::vector<int32_t> good{0, 3};
  model::check_positions(i32(good.data(), {2}), 4);
}

}  // namespace
}  // namespace model_layer_test
