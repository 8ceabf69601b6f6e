// WeightFolder: which claims of an index are refused, and the text model's names of stored tensors. Faults
// put into the code: ".." or a NUL in a plain name, the index's shard not compared with where the tensor is,
// the second shard of a tensor accepted, "model.language_model." stripped without putting "model." back. Each
// is detected.
#include "model/weight_folder.h"

#include "check.h"
#include "model/goldens.h"

namespace model_weight_folder_test {
namespace {

using namespace hone;
using model::WeightFolder;

const float kNumbers[4] = {1, 2, 3, 4};

void shard(const test::TemporaryFolder& folder, const std::string& file, const std::vector<std::string>& names) {
  std::vector<model::SafetensorsFile::Entry> entries;
  for (const auto& name : names) entries.push_back({name, DType::kF32, {4}, kNumbers, 16});
  model::write_safetensors(folder / file, entries);
}
void index(const test::TemporaryFolder& folder, const std::string& text) {
  model::DurableFile file(folder / model::kWeightIndex);
  file.write(text);
  file.commit();
}
/// The message of the error when the folder is opened, without the folder's path; "" if there is none.
std::string complaint(const test::TemporaryFolder& folder, Code code) {
  try {
    const WeightFolder open(folder.path());
  } catch (const Error& e) {
    const std::string what = e.what();
    const size_t at = what.find(folder.path());
    if (e.code() != code || at == std::string::npos) return "another error: " + what;
    return what.substr(0, at) + what.substr(at + folder.path().size() + 1);
  }
  return "";
}

TEST(one_file_without_an_index) {
  const test::TemporaryFolder folder("one");
  EXPECT_EQ(complaint(folder, Code::kIo), std::string("open model.safetensors: No such file or directory."));
  shard(folder, "model.safetensors", {"a", "b"});
  const WeightFolder open(folder.path());
  EXPECT_EQ(open.files().size(), size_t(1));
  EXPECT_EQ(open.index_text(), std::string());
  EXPECT_EQ(open.find("b").file, &open.files()[0]);
  EXPECT_EQ(open.find("b").entry->name, std::string("b"));
  EXPECT_TRUE(open.find("c").entry == nullptr && open.find("c").file == nullptr);
}

TEST(shards_of_an_index_by_name) {
  const test::TemporaryFolder folder("shards");
  shard(folder, "y.safetensors", {"a"});
  shard(folder, "x.safetensors", {"b", "unlisted"});
  shard(folder, "model.safetensors", {"a"});  // not read
  const std::string text = R"({"metadata":{"total_size":16},"weight_map":{"a":"y.safetensors","b":"x.safetensors"}})";
  index(folder, text);
  const WeightFolder open(folder.path());
  EXPECT_EQ(open.files().size(), size_t(2));
  EXPECT_EQ(open.files()[0].name, std::string("x.safetensors"));
  EXPECT_EQ(open.find("a").file->name, std::string("y.safetensors"));
  EXPECT_EQ(open.find("unlisted").file->name, std::string("x.safetensors"));
  EXPECT_EQ(open.index_text(), text);
}

TEST(what_the_system_does_not_tell_is_an_io_error) {
  const test::TemporaryFolder folder("circle");
  std::filesystem::create_symlink(folder / model::kWeightIndex, folder / model::kWeightIndex);
  EXPECT_EQ(complaint(folder, Code::kIo), std::string("open ") + model::kWeightIndex + ": Too many levels of symbolic links.");
}

TEST(an_index_that_lies_is_refused) {
  const test::TemporaryFolder folder("lies");
  shard(folder, "x.safetensors", {"a", "b"});
  shard(folder, "y.safetensors", {"b", "c"});
  shard(folder, "w.safetensors", {"d"});
  const std::string name = model::kWeightIndex;
  const struct { std::string map, says; Code code; } cases[] = {
      {R"({"a":"x.safetensors","c":"y.safetensors"})", R"(y.safetensors: tensor "b" is in x.safetensors too.)", Code::kFormat},
      {R"({"a":"x.safetensors","c":"x.safetensors"})", name + R"(: tensor "c" is not in x.safetensors, where the index has it.)", Code::kFormat},
      {R"({"a":"x.safetensors","q":"x.safetensors"})", name + R"(: tensor "q" is not in x.safetensors, where the index has it.)", Code::kFormat},
      {R"({"a":"w.safetensors","b":"x.safetensors","d":"w.safetensors"})", name + R"(: tensor "a" is not in w.safetensors, where the index has it.)", Code::kFormat},
      {R"({"a":"z.safetensors"})", "open z.safetensors: No such file or directory.", Code::kIo},
      {R"({"a":"../x.safetensors"})", name + R"(: "a" is in "../x.safetensors", which is not a plain file name.)", Code::kFormat},
      {R"({"a":"/etc/passwd"})", name + R"(: "a" is in "/etc/passwd", which is not a plain file name.)", Code::kFormat},
      {R"({"a":".."})", name + R"(: "a" is in "..", which is not a plain file name.)", Code::kFormat},
      {R"({"a":""})", name + R"(: "a" is in "", which is not a plain file name.)", Code::kFormat},
      {R"({"a":"sub/"})", name + R"(: "a" is in "sub/", which is not a plain file name.)", Code::kFormat},
      {R"({"a":1})", name + " is a number, expected a string.", Code::kFormat},
      {R"({"a":"x.safetensors","a":"y.safetensors"})", "", Code::kFormat},
      {"[]", name + " is an array, expected an object.", Code::kFormat},
  };
  for (const auto& c : cases) {
    index(folder, R"({"weight_map":)" + c.map + "}");
    const std::string said = complaint(folder, c.code);
    if (c.says.empty() ? said.find("twice") == std::string::npos : said != c.says) {
      test::report(__FILE__, __LINE__, c.map + ": " + said);
    }
  }
  index(folder, "{}");
  EXPECT_EQ(complaint(folder, Code::kFormat), name + ": \"weight_map\" is missing.");
  index(folder, R"({"weight_map":{"a":"x\u0000y"}})");
  EXPECT_TRUE(complaint(folder, Code::kFormat).find("plain file name") != std::string::npos);
}

TEST(names_of_wrappers_are_understood) {
  const struct { const char *stored, *own; } cases[] = {
      {"model.layers.0.mlp.up_proj.weight", "model.layers.0.mlp.up_proj.weight"},
      {"language_model.model.norm.weight", "model.norm.weight"},
      {"language_model.lm_head.weight", "lm_head.weight"},
      {"model.language_model.norm.weight", "model.norm.weight"},
      {"lm_head.weight", "lm_head.weight"},
      {"vision_tower.patch.weight", ""},
      {"model.vision_tower.patch.weight", ""},
      {"multi_modal_projector.linear_1.bias", ""},
      {"model.multi_modal_projector.linear_1.bias", ""},
      {"language_model.model.layers.0.self_attn.rotary_emb.inv_freq", ""},
      {"visual.blocks.0.attn.qkv.weight", ""},
      {"model.visual.merger.norm.weight", ""},
      {"model.audio_tower.layers.0.norm.weight", ""},
      {"model.embed_vision.embedding_projection.weight", ""},
      {"model.embed_audio.embedding_projection.weight", ""},
      {"model.mtp_layers.0.input_proj.weight", ""},
      {"other.weight", "other.weight"},
  };
  for (const auto& c : cases) EXPECT_EQ(model::text_model_name(c.stored), std::string(c.own));
}

}  // namespace
}  // namespace model_weight_folder_test
