// WeightSnapshot: correctly packed, rounded if requested, overwritten only by repack and assign, and sharing
// its rope table. Faults put into the code: the head rounded to bf16, norms shared instead of copied, the
// table rebuilt, a key norm not repacked, the version or the last cache line not copied. Each is detected.
#include "model/weight_snapshot.h"

#include "check.h"
#include "model/reference.h"

namespace model_weight_snapshot_test {
namespace {

using namespace hone;
using model::WeightSnapshot;

/// Multiplies the identity by a packed matrix, which gives its columns, and compares them with W transposed.
void expect_pack(const char* name, const kernels::PackedMatrix& packed, const TensorView& w, bool rounded) {
  const int64_t N = w.dim(0), K = w.dim(1);
  EXPECT_TRUE(packed.n == N && packed.k == K);
  std::vector<float> identity(size_t(K * K)), y = test::poison(K * N);
  for (int64_t i = 0; i < K; ++i) identity[size_t(i * K + i)] = 1.0f;
  kernels::linear(Stream{}, {f32(identity.data(), {K, K}), packed, {}, f32(y.data(), {K, N})});
  for (int64_t n = 0; n < N; ++n) {
    for (int64_t k = 0; k < K; ++k) {
      const float value = w.row<float>(n)[k];
      const float wanted = rounded ? bf16_to_f32(f32_to_bf16(value)) : value;
      if (y[size_t(k * N + n)] != wanted) return test::report(__FILE__, __LINE__, std::string(name) + " differs");
    }
  }
}

void expect_copy(const TensorView& copy, const TensorView& from) {
  EXPECT_EQ(copy.empty(), from.empty());
  if (copy.empty()) return;
  EXPECT_TRUE(copy.data != from.data);
  EXPECT_TRUE(test::same_bits(copy.as<float>(), from.as<float>(), from.numel()));
}

TEST(every_tensor_is_in_its_place) {
  for (const auto& [name, config] : test::switch_configs()) {
    model::Parameters p(config);
    test::roughen(p, 4);
    for (DType storage : {DType::kF32, DType::kBF16}) {
      const bool rounded = storage == DType::kBF16;
      const auto s = WeightSnapshot::make(Stream{}, p, 9, storage);
      EXPECT_EQ(s->version, 9u);
      for (int64_t l = 0; l < config.layers; ++l) {
        const model::PackedLayer& layer = s->layers[size_t(l)];
        const model::LayerViews& from = p.layer(l);
        expect_pack("qkv", layer.qkv, from.qkv, rounded);
        expect_pack("o", layer.o, from.o, rounded);
        expect_pack("gate_up", layer.gate_up, from.gate_up, rounded);
        expect_pack("down", layer.down, from.down, rounded);
        expect_copy(layer.attn_norm, from.attn_norm);
        expect_copy(layer.mlp_norm, from.mlp_norm);
        expect_copy(layer.qkv_bias, from.qkv_bias);
        expect_copy(layer.q_norm, from.q_norm);
        expect_copy(layer.k_norm, from.k_norm);
        expect_copy(layer.scalar, from.scalar);
      }
      EXPECT_EQ(s->embedding.empty(), config.tied_head);
      if (!config.tied_head) expect_copy(s->embedding, p.embedding());
      expect_copy(s->final_norm, p.final_norm());
      expect_pack("head", s->head, p.head(), false);  // the head is f32
    }
  }
}

TEST(later_changes_of_the_parameters_do_not_show) {
  model::Parameters p(test::tiny_config());
  test::roughen(p, 4);
  const auto s = WeightSnapshot::make(Stream{}, p, 1);
  const float before = s->final_norm.as<float>()[2];
  p.zero();
  EXPECT_EQ(s->final_norm.as<float>()[2], before);
}

TEST(each_layer_has_the_table_of_its_kind) {
  model::ModelConfig config = test::tiny_config();
  config.sliding_window = 4, config.sliding_layers = {true, false}, config.sliding_theta = 100.0;
  const auto two = WeightSnapshot::make(Stream{}, model::Parameters(config), 1);
  EXPECT_NEAR(two->rope_table(0).row<float>(1)[1], std::cos(std::pow(100.0, -2.0 / 6.0)), 1e-6);
  EXPECT_NEAR(two->rope_table(1).row<float>(1)[1], std::cos(std::pow(10000.0, -2.0 / 6.0)), 1e-6);
  config.rotated_layers = {true, false};
  const auto still = WeightSnapshot::make(Stream{}, model::Parameters(config), 1)->clone(Stream{});
  EXPECT_EQ(still->rope_table(1).row<float>(9)[0], 1.0f);
  EXPECT_EQ(still->rope_table(1).row<float>(9)[1], 0.0f);
}

TEST(the_rope_table_is_lent_to_the_next_snapshot) {
  model::Parameters p(test::tiny_config());
  auto first = WeightSnapshot::make(Stream{}, p, 1);
  const auto second = first->blank(Stream{});
  second->repack(Stream{}, p, 2);
  const float* table = first->rope_table(0).as<float>();
  first.reset();  // the table must outlive the snapshot that made it
  EXPECT_EQ(second->rope_table(0).as<float>(), table);
  EXPECT_EQ(second->rope_table(0).dim(0), p.config().max_positions);
  EXPECT_EQ(second->rope_table(0).row<float>(0)[0], 1.0f);
}

/// The bits of every tensor, one after the other.
std::vector<uint8_t> contents(const WeightSnapshot& s) {
  std::vector<uint8_t> out;
  const auto append = [&](const void* data, int64_t bytes) {
    const auto* const first = static_cast<const uint8_t*>(data);
    out.insert(out.end(), first, first + bytes);
  };
  const auto view = [&](const TensorView& v) { append(v.data, v.empty() ? 0 : v.numel() * 4); };
  const auto matrix = [&](const kernels::PackedMatrix& m) {
    append(m.panels, kernels::packed_bytes({}, m.n, m.k, m.storage));
  };
  for (const model::PackedLayer& l : s.layers) {
    for (const auto* m : {&l.qkv, &l.o, &l.gate_up, &l.down}) matrix(*m);
    for (const auto* v : {&l.attn_norm, &l.mlp_norm, &l.qkv_bias, &l.q_norm, &l.k_norm}) view(*v);
  }
  view(s.embedding), view(s.final_norm), matrix(s.head);
  return out;
}
bool same_memory(const WeightSnapshot& a, const WeightSnapshot& b) { return contents(a) == contents(b); }

TEST(repacking_in_place_is_making_anew) {
  for (const auto& [name, config] : test::switch_configs()) {
    model::Parameters p(config);
    test::roughen(p, 4);
    const auto s = WeightSnapshot::make(Stream{}, p, 1);
    const void* const at = s->head.panels;
    test::roughen(p, 5);
    const auto fresh = WeightSnapshot::make(Stream{}, p, 2);
    EXPECT_TRUE(!same_memory(*s, *fresh));
    s->repack(Stream{}, p, 2);
    EXPECT_TRUE(same_memory(*s, *fresh));
    EXPECT_TRUE(s->version == 2 && s->head.panels == at);
  }
}

TEST(a_clone_has_addresses_of_its_own_and_keeps_them) {
  model::Parameters p(test::tiny_config());
  test::roughen(p, 4);
  const auto s = WeightSnapshot::make(Stream{}, p, 1);
  const auto copy = s->clone(Stream{});
  EXPECT_TRUE(same_memory(*s, *copy) && copy->version == 1);
  EXPECT_TRUE(copy->head.panels != s->head.panels && copy->embedding.data != s->embedding.data);
  EXPECT_EQ(copy->rope_table(0).data, s->rope_table(0).data);
  const void* const at = copy->head.panels;
  test::roughen(p, 6);
  const auto next = WeightSnapshot::make(Stream{}, p, 7);
  copy->assign(Stream{}, *next);
  EXPECT_TRUE(same_memory(*next, *copy) && copy->version == 7 && copy->head.panels == at);
}

TEST(weights_of_another_layout_are_not_taken_over) {
  model::Parameters p(test::tiny_config());
  const auto s = WeightSnapshot::make(Stream{}, p, 1);
  EXPECT_THROWS(s->assign(Stream{}, *WeightSnapshot::make(Stream{}, p, 1, DType::kBF16)), Code::kConfig);
}

TEST(the_size_is_known) {
  model::Parameters p(test::tiny_config());
  const auto s = WeightSnapshot::make(Stream{}, p, 1);
  EXPECT_TRUE(s->bytes() >= p.flat().numel() * 4);
}

}  // namespace
}  // namespace model_weight_snapshot_test
