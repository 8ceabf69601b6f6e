// MXFP4 and fp8 weights: every code compared with the formats' descriptions, and names that look like such
// tensors but are not.
#include "model/stored_weights.h"

#include <cstring>

#include "check.h"
#include "model/goldens.h"
#include "model/hf_loader.h"
#include "model/model_writer.h"
#include "model/reference.h"

namespace model_stored_weights_test {
namespace {

using namespace hone;
using Entries = std::vector<model::SafetensorsFile::Entry>;
using Bytes = std::vector<uint8_t>;

/// The value of a code with `exponent` and `mantissa` bits below its sign, by the formats' description:
/// (-1)^s 2^(e - bias) (1 + m / 2^M), or without the leading 1 if e = 0.
double described(int code, int exponent, int mantissa, int bias) {
  const int sign = code >> (exponent + mantissa), e = code >> mantissa & ((1 << exponent) - 1), m = code & ((1 << mantissa) - 1);
  const double fraction = double(m) / double(1 << mantissa);
  const double magnitude = e == 0 ? std::pow(2.0, 1 - bias) * fraction : std::pow(2.0, e - bias) * (1.0 + fraction);
  return sign ? -magnitude : magnitude;
}

Bytes codes(int64_t n, uint32_t seed) {
  Bytes out;
  for (int64_t i = 0; i < n; ++i) out.push_back(uint8_t((seed = seed * 1664525u + 1013904223u) >> 24));
  return out;
}

model::SafetensorsFile::Entry entry(const char* name, DType dtype, std::vector<int64_t> shape, const void* data) {
  int64_t bytes = dtype_bytes(dtype);
  for (const int64_t d : shape) bytes *= d;
  return {name, dtype, std::move(shape), data, bytes};
}

struct Folder {
  test::TemporaryFolder dir{"stored"};
  std::optional<model::WeightFolder> open;
  explicit Folder(const Entries& entries) {
    model::write_safetensors(dir / "model.safetensors", entries);
    open.emplace(dir.path());
  }
  std::optional<model::StoredWeight> weight(const char* name) const {
    const auto found = open->find(name);
    return model::stored_weight(*open, *found.file, *found.entry);
  }
  std::string message(const char* name) const {
    try {
      weight(name);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
};

TEST(mxfp4_is_read_exactly_and_turned) {
  constexpr int64_t E = 2, N = 19, K = 96;
  const Bytes blocks = codes(E * N * K / 2, 1);
  Bytes scales = codes(E * N * K / 32, 2);
  // 2^-127 to 2^122, so that the products are f32 numbers, the smallest denormal
  for (uint8_t& s : scales) s = uint8_t(s % 250);
  const Folder folder({entry("x_blocks", DType::kU8, {E, N, K / 32, 16}, blocks.data()), entry("x_scales", DType::kU8, {E, N, K / 32}, scales.data())});
  EXPECT_TRUE(!folder.weight("x_scales"));
  const auto weight = folder.weight("x_blocks");
  EXPECT_TRUE(weight->name == "x" && weight->shape == (std::vector<int64_t>{E, K, N}));
  std::vector<float> out = test::poison(E * K * N);
  model::read_weight(*weight, f32(out.data(), {E, K, N}), "test");
  for (int64_t e = 0; e < E; ++e) {
    for (int64_t n = 0; n < N; ++n) {
      for (int64_t k = 0; k < K; ++k) {
        const uint8_t byte = blocks[size_t((e * N + n) * K / 2 + k / 2)];
        const double scale = std::pow(2.0, int(scales[size_t(((e * N + n) * K + k) / 32)]) - 127);
        EXPECT_EQ(double(out[size_t((e * K + k) * N + n)]), described(k % 2 ? byte >> 4 : byte & 15, 2, 1, 1) * scale);
      }
    }
  }
}

TEST(fp8_is_multiplied_by_its_blocks_rows_or_only_scale) {
  constexpr int64_t R = 300, C = 140;
  Bytes bytes = codes(R * C, 3);
  for (uint8_t& b : bytes) b = (b & 0x7f) == 0x7f ? 0 : b;
  const std::vector<float> scales = test::random_floats(R);
  const std::pair<std::vector<int64_t>, std::pair<int64_t, int64_t>> grids[] = {{{3, 2}, {128, 128}}, {{R, 1}, {1, C}}, {{R}, {1, C}}, {{}, {R, C}}, {{1}, {R, C}}};
  for (const auto& [shape, block] : grids) {
    const Folder folder({entry("w.weight", DType::kF8E4M3, {R, C}, bytes.data()), entry("w.weight_scale_inv", DType::kF32, shape, scales.data())});
    EXPECT_TRUE(!folder.weight("w.weight_scale_inv"));
    std::vector<float> out = test::poison(R * C);
    model::read_weight(*folder.weight("w.weight"), f32(out.data(), {R, C}), "test");
    const int64_t columns = (C + block.second - 1) / block.second;
    for (int64_t i = 0; i < R * C; ++i) {
      const float scale = scales[size_t(i / C / block.first * columns + i % C / block.second)];
      EXPECT_EQ(out[size_t(i)], float(described(bytes[size_t(i)], 4, 3, 7) * double(scale)));
    }
  }
}

TEST(what_is_incomplete_is_refused_by_name) {
  const Bytes bytes = codes(4096, 4);
  const std::vector<float> scales = test::random_floats(64);
  const Folder folder({entry("a_blocks", DType::kU8, {1, 4, 2, 16}, bytes.data()), entry("b_blocks", DType::kU8, {1, 4, 2, 16}, bytes.data()),
                       entry("b_scales", DType::kU8, {1, 4, 3}, bytes.data()), entry("c.weight", DType::kF8E4M3, {8, 8}, bytes.data()),
                       entry("d.weight", DType::kF8E4M3, {9, 8}, bytes.data()), entry("d.weight_scale", DType::kF32, {4, 1}, scales.data()),
                       entry("e_scale", DType::kF32, {4}, scales.data())});
  EXPECT_TRUE(folder.message("a_blocks").find("a_scales") != std::string::npos);
  EXPECT_TRUE(folder.message("b_blocks").find("[1, 4, 3]") != std::string::npos);
  EXPECT_TRUE(folder.message("c.weight").find("no scales") != std::string::npos);
  EXPECT_TRUE(folder.message("d.weight").find("[4, 1]") != std::string::npos);
  EXPECT_TRUE(folder.weight("e_scale") && !folder.weight("e_scale")->quantized());
}

/// One model is stored with one matrix per expert, another with one tensor for all experts.
TEST(experts_in_one_tensor_are_read_and_written_as_they_were) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (config.arch != "qwen3_moe") continue;
    model::Parameters p(config), again(config);
    test::roughen(p, 5);
    Entries apart, stacked;
    const model::ExpertsConfig& e = config.experts;
    for (const auto& spec : p.specs()) {
      apart.push_back(entry(spec.name.c_str(), DType::kF32, spec.shape, p.view(spec).data));
      const size_t at = spec.name.find("experts.");
      if (at == std::string::npos || spec.name.find("shared") != std::string::npos) stacked.push_back(apart.back());
      if (spec.name.ends_with("experts.0.gate_proj.weight")) stacked.push_back(entry((spec.name.substr(0, at) + "experts.gate_up_proj").c_str(), DType::kF32, {e.count, 2 * e.width, config.width}, p.view(spec).data));
      if (spec.name.ends_with("experts.0.down_proj.weight")) stacked.push_back(entry((spec.name.substr(0, at) + "experts.down_proj").c_str(), DType::kF32, {e.count, config.width, e.width}, p.view(spec).data));
    }
    const test::TemporaryFolder dir("stacked");
    for (const char* part : {"source", "values"}) std::filesystem::create_directory(dir / part);
    model::write_safetensors(dir / "source" + "/model.safetensors", stacked);
    model::write_safetensors(dir / "values" + "/model.safetensors", apart);
    model::load_hf_weights(dir / "source", again);
    EXPECT_TRUE(test::same_bits(again.flat().as<float>(), p.flat().as<float>(), p.flat().numel()));
    model::write_model_folder({.source = dir / "source", .values = dir / "values", .target = dir / "out"});
    const model::WeightFolder before(dir / "source"), after(dir / "out");
    for (const auto& stored : before.files().front().tensors->entries()) {
      const auto found = after.find(stored.name);
      EXPECT_TRUE(found.entry && found.entry->shape == stored.shape && std::memcmp(found.entry->data, stored.data, size_t(stored.bytes)) == 0);
    }
  }
}

/// gpt-oss in MXFP4 and a Llama in fp8 are loaded, and written in bf16 after training.
TEST(a_quantized_folder_is_loaded_and_written_as_bf16) {
  for (const auto& [name, config] : test::switch_configs()) {
    if (!config.experts.turned) continue;
    model::ModelConfig c = config;
    c.width = c.experts.width = c.mlp_width = 32;
    model::Parameters p(c), again(c);
    test::roughen(p, 5);
    Entries entries;
    std::vector<Bytes> kept;
    for (const auto& spec : p.specs()) {
      if (spec.shape.size() != 3) {
        entries.push_back(entry(spec.name.c_str(), DType::kF32, spec.shape, p.view(spec).data));
        continue;
      }
      const int64_t E = spec.shape[0], K = spec.shape[1], N = spec.shape[2];
      kept.push_back(codes(E * N * K / 2, 6));
      entries.push_back(entry((spec.name + "_blocks").c_str(), DType::kU8, {E, N, K / 32, 16}, kept.back().data()));
      kept.push_back(Bytes(size_t(E * N * K / 32), 124));
      entries.push_back(entry((spec.name + "_scales").c_str(), DType::kU8, {E, N, K / 32}, kept.back().data()));
    }
    const test::TemporaryFolder dir("quantized");
    for (const char* part : {"source", "values"}) std::filesystem::create_directory(dir / part);
    model::write_safetensors(dir / "source" + "/model.safetensors", entries);
    const model::LoadReport report = model::load_hf_weights(dir / "source", again);
    EXPECT_EQ(report.loaded, int64_t(p.specs().size()));
    Entries trained;
    for (const auto& spec : again.specs()) trained.push_back(entry(spec.name.c_str(), DType::kF32, spec.shape, again.view(spec).data));
    model::write_safetensors(dir / "values" + "/model.safetensors", trained);
    model::write_model_folder({.source = dir / "source", .values = dir / "values", .target = dir / "out"});
    model::Parameters back(c);
    model::load_hf_weights(dir / "out", back);
    // products of a 4-bit number and a power of two are exact in bf16
    EXPECT_TRUE(test::same_bits(back.flat().as<float>(), again.flat().as<float>(), again.flat().numel()));
    const model::WeightFolder out(dir / "out");
    EXPECT_TRUE(out.find("model.layers.0.mlp.experts.down_proj").entry->dtype == DType::kBF16);
    EXPECT_TRUE(!out.find("model.layers.0.mlp.experts.down_proj_scales").entry);
  }
}

}  // namespace
}  // namespace model_stored_weights_test
