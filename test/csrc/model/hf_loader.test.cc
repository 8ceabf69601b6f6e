// Loading Hugging Face folders: a single file, shards, wrapper names; errors name what is missing, unknown or
// of the wrong shape. Faults put into the code: "model.language_model." stripped without putting "model."
// back, an extra tensor reported without its reason, the tied head not compared. Each is detected.
#include "model/hf_loader.h"

#include "check.h"
#include "model/goldens.h"
#include "model/reference.h"

namespace model_hf_loader_test {
namespace {

using namespace hone;
using model::Parameters;
using Entries = std::vector<model::SafetensorsFile::Entry>;

Entries entries_of(const Parameters& p, const std::string& prefix = "") {
  Entries out;
  for (const auto& spec : p.specs()) {
    out.push_back({prefix + spec.name, DType::kF32, spec.shape, p.view(spec).data, spec.numel() * 4});
  }
  return out;
}
void write(const test::TemporaryFolder& folder, const Entries& entries) {
  model::write_safetensors(folder / "model.safetensors", entries);
}
std::string message(const std::string& folder, Parameters& p) {
  try {
    model::load_hf_weights(folder, p);
  } catch (const Error& e) {
    return e.code() == Code::kFormat ? e.what() : "another code";
  }
  return "";
}

TEST(every_golden_model_loads_and_counts_what_it_skips) {
  if (test::goldens().empty()) SKIP("no golden data");
  for (const auto& entry : std::filesystem::directory_iterator(test::goldens() + "/models")) {
    const std::string folder = entry.path().string(), name = entry.path().filename().string();
    Parameters p(model::load_hf_config(folder));
    for (int64_t i = 0; i < p.flat().dim(0); ++i) p.flat().as<float>()[i] = 0.0f;
    const model::LoadReport report = model::load_hf_weights(folder, p);
    EXPECT_EQ(report.loaded, int64_t(p.specs().size()));
    EXPECT_EQ(report.skipped, int64_t(name.compare(0, 5, "llava") == 0 ? 15 : 0));
    EXPECT_EQ(report.files, int64_t(name == "llama-sharded" ? 4 : 1));
    for (const auto& spec : p.specs()) {
      double size = 0;
      for (int64_t i = 0; i < spec.numel(); ++i) size += std::fabs(p.view(spec).as<float>()[i]);
      if (!(size > 0)) test::report(__FILE__, __LINE__, name + ": " + spec.name + " was not filled");
    }
  }
}

TEST(wrapper_prefixes_are_understood) {
  const test::TemporaryFolder folder("prefix");
  Parameters from(test::tiny_config()), to(test::tiny_config());
  from.initialize(1);
  Entries named = entries_of(from, "language_model.");
  const float vision[2] = {1, 2};
  named.push_back({"vision_tower.patch.weight", DType::kF32, {2}, vision, 8});
  named.push_back({"language_model.model.layers.0.self_attn.rotary_emb.inv_freq", DType::kF32, {2}, vision, 8});
  write(folder, named);
  EXPECT_EQ(model::load_hf_weights(folder.path(), to).skipped, 2);
  EXPECT_TRUE(test::same_bits(from.flat().as<float>(), to.flat().as<float>(), from.flat().dim(0)));
}

TEST(layers_that_predict_further_tokens_are_left_aside_as_far_as_the_config_says) {
  const test::TemporaryFolder folder("further");
  model::ModelConfig config = test::tiny_config();
  config.further_layers = 1;
  Parameters from(config), to(config);
  from.initialize(1);
  Entries entries = entries_of(from);
  const float one[2] = {1, 2};
  entries.push_back({"model.layers.2.eh_proj.weight", DType::kF32, {2}, one, 8});
  write(folder, entries);
  EXPECT_EQ(model::load_hf_weights(folder.path(), to).skipped, 1);
  EXPECT_TRUE(test::same_bits(from.flat().as<float>(), to.flat().as<float>(), from.flat().dim(0)));
  entries.back().name = "model.layers.3.eh_proj.weight";
  write(folder, entries);
  EXPECT_TRUE(message(folder.path(), to).find("model.layers.3") != std::string::npos);
}

TEST(what_does_not_fit_is_named) {
  const test::TemporaryFolder folder("misfit");
  Parameters p(test::tiny_config());
  const Entries good = entries_of(p);
  Entries bad = good;
  bad.erase(bad.begin() + 3);
  write(folder, bad);
  EXPECT_TRUE(message(folder.path(), p).find(good[3].name) != std::string::npos);
  bad = good;
  bad.push_back({"model.layers.0.mlp.extra.weight", DType::kF32, {0}, nullptr, 0});
  write(folder, bad);
  EXPECT_TRUE(message(folder.path(), p).find("mlp.extra") != std::string::npos);
  bad = good;
  bad[2].shape = {bad[2].shape[1], bad[2].shape[0]};
  write(folder, bad);
  EXPECT_TRUE(message(folder.path(), p).find(good[2].name) != std::string::npos);
  bad = good;
  bad.push_back({"language_model." + good[1].name, DType::kF32, good[1].shape, good[1].data, good[1].bytes});
  write(folder, bad);
  EXPECT_TRUE(message(folder.path(), p).find("twice") != std::string::npos);
}

TEST(a_weight_that_is_not_finite_is_named_with_its_tensor_and_file) {
  const test::TemporaryFolder folder("nan");
  Parameters p(test::tiny_config());
  p.initialize(4);
  for (const float value : {std::nanf(""), INFINITY, -INFINITY}) {
    Entries entries = entries_of(p);
    std::vector<float> values(size_t(entries[4].bytes) / 4, 0.5f);
    values[3] = values.back() = value;
    entries[4].data = values.data();
    write(folder, entries);
    Parameters to(test::tiny_config());
    const std::string said = message(folder.path(), to);
    for (const std::string& part : {entries[4].name, std::string(" 2 of "), std::string("at 3"), std::string(".safetensors")}) {
      EXPECT_TRUE(said.find(part) != std::string::npos);
    }
  }
}

TEST(a_second_head_of_a_tied_model_must_be_the_embedding) {
  const test::TemporaryFolder folder("tied");
  model::ModelConfig config = test::tiny_config();
  config.tied_head = true;
  Parameters p(config);
  p.initialize(2);
  Entries entries = entries_of(p);
  std::vector<float> head(p.embedding().as<float>(), p.embedding().as<float>() + p.embedding().numel());
  entries.push_back({"lm_head.weight", DType::kF32, entries[0].shape, head.data(), entries[0].bytes});
  write(folder, entries);
  Parameters to(config);
  EXPECT_EQ(model::load_hf_weights(folder.path(), to).skipped, 1);
  head[3] += 1.0f;
  write(folder, entries);
  EXPECT_TRUE(message(folder.path(), to).find("lm_head.weight") != std::string::npos);
}

TEST(an_absent_folder_is_an_io_error) {
  Parameters p(test::tiny_config());
  EXPECT_THROWS(model::load_hf_weights("/nowhere", p), Code::kIo);
  EXPECT_THROWS(model::load_hf_config("/nowhere"), Code::kIo);
}

}  // namespace
}  // namespace model_hf_loader_test
