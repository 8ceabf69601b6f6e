// Writing model folders: with the source's names, shards, dtypes and bytes; with other dtypes and shards;
// with trained values. Faults put into the code: a vision tower converted on export, rotary frequencies
// converted, no embedding for a stored tied head, trained tensors without a place or with another shape
// accepted, the old index kept after a conversion, no "format", the wrong element named, the wrong bytes read
// in the second piece of a tensor. Each is detected.
#include "model/model_writer.h"

#include <fstream>
#include <map>

#include "check.h"
#include "model/float_convert.h"
#include "model/goldens.h"
#include "model/weight_folder.h"

namespace model_model_writer_test {
namespace {

using namespace hone;
namespace fs = std::filesystem;
using Entries = std::vector<model::SafetensorsFile::Entry>;
using model::WeightFolder;

std::string bytes_of(const std::string& path) { return model::read_text(path); }

/// Maps the name of every tensor in a folder to its dtype, shape and bytes.
std::map<std::string, std::string> contents(const std::string& folder) {
  std::map<std::string, std::string> out;
  const WeightFolder open(folder);
  for (const auto& file : open.files()) {
    for (const auto& entry : file.tensors->entries()) {
      std::string value = file.name + " " + dtype_name(entry.dtype);
      for (int64_t d : entry.shape) value += " " + std::to_string(d);
      out[entry.name] = value + ":" + std::string(static_cast<const char*>(entry.data), size_t(entry.bytes));
    }
  }
  return out;
}

void write_index(const std::string& folder, const std::string& map) {
  std::ofstream(folder + "/" + model::kWeightIndex) << R"({"metadata":{"total_size":0,"total_parameters":7},"weight_map":)" << map << "}";
}

TEST(every_golden_model_comes_back_to_the_byte) {
  if (test::goldens().empty()) SKIP("no golden data");
  const test::TemporaryFolder folder("same");
  for (const auto& source : fs::directory_iterator(test::goldens() + "/models")) {
    const std::string from = source.path().string(), to = folder / source.path().filename().string();
    const auto report = model::write_model_folder({.source = from, .target = to});
    EXPECT_EQ(report.converted + report.replaced, 0);
    const WeightFolder opened(from);
    for (const auto& file : opened.files()) {  // whole files, including headers
      if (bytes_of(file.path) != bytes_of(to + "/" + file.name)) test::report(__FILE__, __LINE__, file.path + " differs");
    }
    EXPECT_EQ(opened.index_text(), WeightFolder(to).index_text());
  }
}

TEST(bf16_through_f32_and_other_shards_and_back_is_the_same_to_the_byte) {
  if (test::goldens().empty()) SKIP("no golden data");
  const test::TemporaryFolder folder("there");
  const std::string from = test::goldens() + "/models/qwen3-bf16";
  const auto wide = model::write_model_folder({.source = from, .target = folder / "wide", .dtype = DType::kF32, .shard_bytes = 40000});
  EXPECT_TRUE(wide.files > 3);
  EXPECT_EQ(wide.converted, wide.tensors);
  const auto back = model::write_model_folder(
      {.source = folder / "wide", .target = folder / "back", .dtype = DType::kBF16, .shard_bytes = int64_t(1) << 40});
  EXPECT_EQ(back.files, 1);
  EXPECT_TRUE(contents(from) == contents(folder / "back"));
  EXPECT_TRUE(!fs::exists(folder / (std::string("back/") + model::kWeightIndex)));
}

/// Two shards of a wrapper's text model, with the other tensors that such files contain.
struct Wrapper {
  std::vector<float> head = test::random_floats(12), norm = test::random_floats(6), vision = test::random_floats(5);
  std::vector<float> frequencies = test::random_floats(2);
  std::vector<uint16_t> half{0x3c00, 0xbc00};
  std::vector<int64_t> positions{1, 2, 3};
  explicit Wrapper(const std::string& folder) {
    for (float* x : {head.data(), norm.data()}) x[0] = bf16_to_f32(f32_to_bf16(x[0]));
    std::vector<uint16_t> stored(12);
    model::convert_floats(head.data(), DType::kF32, stored.data(), DType::kBF16, 12);
    fs::create_directories(folder);
    model::write_safetensors(folder + "/one.safetensors",
                             {{"language_model.lm_head.weight", DType::kBF16, {3, 4}, stored.data(), 24},
                              {"vision_tower.a", DType::kF32, {5}, vision.data(), 20},
                              {"vision_tower.ids", DType::kI64, {3}, positions.data(), 24}},
                             {{"format", "pt"}, {"made_by", "test"}});
    model::write_safetensors(folder + "/two.safetensors",
                             {{"language_model.model.norm.weight", DType::kF32, {6}, norm.data(), 24},
                              {"multi_modal_projector.b", DType::kF16, {2}, half.data(), 4},
                              {"language_model.model.layers.0.self_attn.rotary_emb.inv_freq", DType::kF32, {2}, frequencies.data(), 8}});
    write_index(folder, R"({"language_model.lm_head.weight":"one.safetensors","vision_tower.a":"one.safetensors",)"
                        R"("vision_tower.ids":"one.safetensors","multi_modal_projector.b":"two.safetensors",)"
                        R"("language_model.model.norm.weight":"two.safetensors"})");
  }
};

TEST(a_dtype_changes_floats_only_and_the_index_says_the_new_size) {
  const test::TemporaryFolder folder("dtype");
  const Wrapper source(folder / "from");
  const auto report = model::write_model_folder({.source = folder / "from", .target = folder / "to", .dtype = DType::kBF16});
  EXPECT_EQ(report.converted, 3);  // vision_tower.a, norm and projector; the head is bf16 already
  const auto got = contents(folder / "to"), was = contents(folder / "from");
  for (const char* same : {"language_model.lm_head.weight", "vision_tower.ids", "language_model.model.layers.0.self_attn.rotary_emb.inv_freq"}) {
    EXPECT_TRUE(got.at(same) == was.at(same));
  }
  std::string norm(12, '\0');
  for (int i = 0; i < 6; ++i) {
    const uint16_t bits = f32_to_bf16(source.norm[size_t(i)]);
    std::memcpy(norm.data() + 2 * i, &bits, 2);
  }
  EXPECT_TRUE(got.at("language_model.model.norm.weight") == "two.safetensors bf16 6:" + norm);
  const Json index = Json::parse(WeightFolder(folder / "to").index_text(), "index");
  EXPECT_EQ(index.find("metadata")->dump(), R"({"total_size":)" + std::to_string(report.bytes) + R"(,"total_parameters":7})");
  EXPECT_EQ(report.bytes, 24 + 10 + 24 + 12 + 4 + 8);
  EXPECT_EQ(index.find("weight_map")->members("").size(), size_t(6));
  const WeightFolder written(folder / "to");
  EXPECT_EQ(written.files()[0].tensors->metadata()[1].second, std::string("test"));
  EXPECT_EQ(written.files()[1].tensors->metadata()[0].second, std::string("pt"));
}

TEST(trained_values_take_the_source_names_shards_and_dtypes) {
  const test::TemporaryFolder folder("trained");
  const Wrapper source(folder / "from");
  fs::create_directories(folder / "run");
  std::vector<float> head = test::random_floats(12), norm = test::random_floats(6);
  Entries values{{"model.norm.weight", DType::kF32, {6}, norm.data(), 24}, {"lm_head.weight", DType::kF32, {3, 4}, head.data(), 48}};
  const auto save = [&] { model::write_safetensors(folder / "run/model.safetensors", values); };
  save();
  const model::ModelWriterOptions options{.source = folder / "from", .values = folder / "run", .target = folder / "to"};
  EXPECT_EQ(model::write_model_folder(options).replaced, 2);
  auto expected = contents(folder / "from");
  std::vector<uint16_t> stored(12);
  for (size_t i = 0; i < 12; ++i) stored[i] = f32_to_bf16(head[i]);
  expected["language_model.lm_head.weight"] = "one.safetensors bf16 3 4:" + std::string(reinterpret_cast<char*>(stored.data()), 24);
  expected["language_model.model.norm.weight"] = "two.safetensors f32 6:" + std::string(reinterpret_cast<char*>(norm.data()), 24);
  EXPECT_TRUE(contents(folder / "to") == expected);

  auto in_f16 = options;
  in_f16.dtype = DType::kF16;
  model::write_model_folder(in_f16);
  const auto half = contents(folder / "to");
  EXPECT_EQ(half.at("language_model.model.norm.weight").substr(0, 21), std::string("two.safetensors f16 6"));
  // it was not trained, so it is unchanged
  EXPECT_TRUE(half.at("vision_tower.a") == expected.at("vision_tower.a"));

  const auto refused = [&](const std::string& part) {
    save();
    try {
      model::write_model_folder(options);
    } catch (const Error& e) {
      if (e.code() == Code::kFormat && std::string(e.what()).find(part) != std::string::npos) return;
      return test::report(__FILE__, __LINE__, e.what());
    }
    test::report(__FILE__, __LINE__, "accepted without " + part);
  };
  values.push_back({"model.more", DType::kF32, {6}, norm.data(), 24});
  refused("\"model.more\" has no place");
  values.pop_back();
  values[1].shape = {4, 3};
  refused("\"language_model.lm_head.weight\" has another shape");
  values.pop_back();
  refused("\"language_model.lm_head.weight\" has no value");
  EXPECT_TRUE(contents(folder / "to") == half);  // unchanged
  EXPECT_EQ(folder.count(), size_t(3));
}

TEST(layers_that_only_predict_further_tokens_keep_their_values) {
  const test::TemporaryFolder folder("further");
  const float old[2] = {1, 2}, trained[2] = {3, 4};
  const Entries source{{"model.layers.0.mlp.x", DType::kF32, {2}, old, 8}, {"model.layers.1.mlp.x", DType::kF32, {2}, old, 8}};
  fs::create_directories(folder / "from"), fs::create_directories(folder / "run");
  model::write_safetensors(folder / "from/model.safetensors", source);
  model::write_safetensors(folder / "run/model.safetensors", Entries{{"model.layers.0.mlp.x", DType::kF32, {2}, trained, 8}});
  const model::ModelWriterOptions options{.source = folder / "from", .values = folder / "run", .target = folder / "to"};
  EXPECT_THROWS(model::write_model_folder(options), Code::kFormat);  // a layer has no value
  std::ofstream(folder / "from/config.json") << R"({"num_hidden_layers": 1, "num_nextn_predict_layers": 1})";
  EXPECT_EQ(model::write_model_folder(options).replaced, 1);
  const auto before = contents(folder / "from"), after = contents(folder / "to");
  EXPECT_EQ(after.at("model.layers.1.mlp.x"), before.at("model.layers.1.mlp.x"));
  EXPECT_TRUE(after.at("model.layers.0.mlp.x") != before.at("model.layers.0.mlp.x"));
}

TEST(a_tied_head_that_the_source_stores_gets_the_embedding) {
  const test::TemporaryFolder folder("tied");
  fs::create_directories(folder / "from");
  fs::create_directories(folder / "run");
  const std::vector<float> old(4, 0.0f), trained = test::random_floats(4);
  model::write_safetensors(folder / "from/model.safetensors", {{"model.embed_tokens.weight", DType::kF32, {2, 2}, old.data(), 16},
                                                               {"lm_head.weight", DType::kF32, {2, 2}, old.data(), 16}});
  model::write_safetensors(folder / "run/model.safetensors", {{"model.embed_tokens.weight", DType::kF32, {2, 2}, trained.data(), 16}});
  EXPECT_EQ(model::write_model_folder({.source = folder / "from", .values = folder / "run", .target = folder / "to"}).replaced, 2);
  const auto got = contents(folder / "to");
  EXPECT_EQ(got.at("lm_head.weight"), got.at("model.embed_tokens.weight"));
  EXPECT_TRUE(test::same_bits(reinterpret_cast<const float*>(got.at("lm_head.weight").data() + 26), trained.data(), 4));
}

TEST(a_number_too_large_for_f16_is_named_and_nothing_is_left) {
  const test::TemporaryFolder folder("overflow");
  fs::create_directories(folder / "from");
  std::vector<float> numbers(3'000'000, 1.0f);
  numbers[2'000'005] = -70000.0f;
  model::write_safetensors(folder / "from/model.safetensors", {{"a", DType::kF32, {3000, 1000}, numbers.data(), 12'000'000}});
  try {
    model::write_model_folder({.source = folder / "from", .target = folder / "to", .dtype = DType::kF16});
    test::report(__FILE__, __LINE__, "accepted");
  } catch (const Error& e) {
    EXPECT_TRUE(e.code() == Code::kData);
    EXPECT_EQ(std::string(e.what()), std::string("tensor \"a\" [2000, 5] is -70000, too large for f16; choose bf16 or f32."));
  }
  EXPECT_EQ(folder.count(), size_t(1));
  model::write_model_folder({.source = folder / "from", .target = folder / "to", .dtype = DType::kBF16});
}

TEST(what_else_belongs_there_is_copied_and_progress_is_told) {
  const test::TemporaryFolder folder("extras");
  const Wrapper source(folder / "from");
  std::ofstream(folder / "from/tokenizer.json") << "{}";
  fs::create_directories(folder / "to");
  std::ofstream(folder / "to/old") << "replaced with the folder";
  std::vector<int64_t> told;
  model::ModelWriterOptions options{.source = folder / "from", .target = folder / "to"};
  options.extras = {{"config.json", "{\"a\":1}", ""}, {"sub/t.json", "", folder / "from/tokenizer.json"}};
  options.on_progress = [&](int64_t done, int64_t total) { told.push_back(done * 1000 + total); };
  const auto report = model::write_model_folder(options);
  EXPECT_EQ(bytes_of(folder / "to/config.json"), std::string("{\"a\":1}"));
  EXPECT_EQ(bytes_of(folder / "to/sub/t.json"), std::string("{}"));
  EXPECT_TRUE(!fs::exists(folder / "to/old"));
  EXPECT_EQ(told.back(), report.bytes * 1001);
  options.on_progress = [](int64_t, int64_t) { fail(Code::kAborted, "enough"); };
  options.target = folder / "never";
  EXPECT_THROWS(model::write_model_folder(options), Code::kAborted);
  EXPECT_EQ(folder.count(), size_t(2));
  options.extras = {{"x", "", folder / "absent"}};
  EXPECT_THROWS(model::write_model_folder(options), Code::kIo);
}

}  // namespace
}  // namespace model_model_writer_test
