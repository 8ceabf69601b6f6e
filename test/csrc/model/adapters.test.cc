// LoRA adapters: W + s B A and the gradients of A and B, compared with f64 sums; what is refused, field by
// field.
#include "model/adapters.h"

#include <cmath>

#include "check.h"
#include "model/adapters_file.h"
#include "model/reference.h"

namespace model_adapters_test {
namespace {

using namespace hone;
using model::AdapterConfig;
using model::Adapters;
using model::Product;

const AdapterConfig kConfig{3, 6.0f, {"k_proj", "v_proj"}, 9};

struct Made {
  model::ModelConfig model = test::tiny_config();
  Adapters adapters{model, kConfig, Stream{}};
  Arena scratch{1 << 20, "test"};
  Made() {
    for (const model::TensorSpec& spec : adapters.block().specs()) {
      const auto values = test::random_floats(spec.numel());
      std::copy(values.begin(), values.end(), adapters.block().view(spec).as<float>());
    }
    adapters.pack(Stream{});
  }
  const float* tensor(const char* matrix, const char* part) const {
    return adapters.block().view("model.layers.1.self_attn." + std::string(matrix) + ".lora_" + part + ".weight").as<float>();
  }
};

TEST(add_is_the_product_of_b_and_a_in_the_rows_of_each_target) {
  Made m;
  const int64_t q = m.model.q_width(), kv = m.model.kv_width(), C = m.model.width, N = q + 2 * kv;
  std::vector<float> w = test::random_floats(N * C);
  const std::vector<float> before = w;
  m.adapters.add(Stream{}, 1, Product::kQkv, f32(w.data(), {N, C}), m.scratch);
  for (int64_t row = 0; row < N; ++row) {
    for (int64_t c = 0; c < C; ++c) {
      double wanted = before[size_t(row * C + c)];
      const char* matrix = row < q ? nullptr : row < q + kv ? "k_proj" : "v_proj";
      const int64_t own = row < q + kv ? row - q : row - q - kv;
      for (int64_t r = 0; matrix && r < 3; ++r) {
        wanted += 2.0 * double(m.tensor(matrix, "B")[own * 3 + r]) * double(m.tensor(matrix, "A")[r * C + c]);
      }
      EXPECT_NEAR(w[size_t(row * C + c)], wanted, 1e-5);
    }
  }
  EXPECT_TRUE(m.adapters.changes(1, Product::kQkv) && !m.adapters.changes(1, Product::kO));
}

TEST(gradients_are_those_of_the_whole_matrix_seen_through_a_and_b) {
  Made m;
  const int64_t q = m.model.q_width(), kv = m.model.kv_width(), C = m.model.width, N = q + 2 * kv, T = 5;
  std::vector<float> dy = test::random_floats(T * N), x = test::random_floats(T * C);
  model::TensorBlock grads(m.model, m.adapters.block().specs(), Stream{});
  m.adapters.gradient(Stream{}, 1, Product::kQkv, f32(dy.data(), {T, N}), f32(x.data(), {T, C}), grads, m.scratch);
  const auto dw = [&](int64_t row, int64_t c) {
    double sum = 0.0;
    for (int64_t t = 0; t < T; ++t) sum += double(dy[size_t(t * N + row)]) * double(x[size_t(t * C + c)]);
    return sum;
  };
  for (const auto& [matrix, first] : {std::pair{"k_proj", q}, {"v_proj", q + kv}}) {
    const std::string stem = "model.layers.1.self_attn." + std::string(matrix) + ".lora_";
    const float *da = grads.view(stem + "A.weight").as<float>(), *db = grads.view(stem + "B.weight").as<float>();
    for (int64_t r = 0; r < 3; ++r) {
      for (int64_t c = 0; c < C; ++c) {
        double wanted = 0.0;
        for (int64_t o = 0; o < kv; ++o) wanted += 2.0 * double(m.tensor(matrix, "B")[o * 3 + r]) * dw(first + o, c);
        EXPECT_NEAR(da[r * C + c], wanted, 1e-4);
      }
      for (int64_t o = 0; o < kv; ++o) {
        double wanted = 0.0;
        for (int64_t c = 0; c < C; ++c) wanted += 2.0 * double(m.tensor(matrix, "A")[r * C + c]) * dw(first + o, c);
        EXPECT_NEAR(db[o * 3 + r], wanted, 1e-4);
      }
    }
  }
}

TEST(a_is_drawn_as_peft_draws_it_and_b_is_zero) {
  const model::ModelConfig model = test::tiny_config();
  const Adapters adapters(model, kConfig, Stream{}), again(model, kConfig, Stream{});
  const double bound = 1.0 / std::sqrt(double(model.width));
  double square = 0.0, count = 0.0;
  for (const model::TensorSpec& spec : adapters.block().specs()) {
    const float* x = adapters.block().view(spec).as<float>();
    EXPECT_TRUE(test::same_bits(x, again.block().view(spec).as<float>(), spec.numel()));
    const bool is_a = spec.name.ends_with("lora_A.weight");
    for (int64_t i = 0; i < spec.numel(); ++i) {
      EXPECT_TRUE(is_a ? std::fabs(x[i]) <= bound : x[i] == 0.0f);
      if (is_a) square += double(x[i]) * x[i], count += 1.0;
    }
  }
  EXPECT_NEAR(std::sqrt(square / count) / (bound / std::sqrt(3.0)), 1.0, 0.15);  // some 240 draws
}

TEST(what_is_not_a_plain_adapter_of_these_sizes_is_refused) {
  const model::ModelConfig model = test::tiny_config();
  const auto check = [&](const char* text) { model::check_adapter_json(Json::parse(text, "test"), kConfig, "test"); };
  check(R"({"r": 3, "lora_alpha": 6, "bias": "none", "use_dora": false, "rank_pattern": {}, "modules_to_save": null})");
  model::check_adapter_json(model::adapter_json(model, kConfig), kConfig, "test");
  EXPECT_THROWS(check(R"({"r": 4, "lora_alpha": 6})"), Code::kConfig);
  EXPECT_THROWS(check(R"({"r": 3, "lora_alpha": 5})"), Code::kConfig);
  EXPECT_THROWS(check(R"({"r": 3, "lora_alpha": 6, "use_dora": true})"), Code::kUnsupported);
  EXPECT_THROWS(check(R"({"r": 3, "lora_alpha": 6, "use_rslora": true})"), Code::kUnsupported);
  EXPECT_THROWS(check(R"({"r": 3, "lora_alpha": 6, "bias": "all"})"), Code::kUnsupported);
  EXPECT_THROWS(check(R"({"r": 3, "lora_alpha": 6, "rank_pattern": {"q_proj": 4}})"), Code::kUnsupported);
  EXPECT_THROWS(model::check_adapters_for_gpu(kConfig), Code::kUnsupported);
}

}  // namespace
}  // namespace model_adapters_test
