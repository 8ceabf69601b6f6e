#include "model/weight_folder.h"

#include <cstdlib>
#include <filesystem>
#include <set>
#include <string_view>

namespace hone::model {
namespace {

namespace fs = std::filesystem;

bool take_prefix(std::string_view& name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return false;
  name.remove_prefix(prefix.size());
  return true;
}

bool is_plain_name(const std::string& name) {
  return !name.empty() && name != "." && name != ".." && name.find('\0') == std::string::npos &&
         fs::path(name).filename() == name;
}

}  // namespace

WeightFolder::WeightFolder(const std::string& directory) {
  if (exists((fs::path(directory) / kWeightIndex).string())) open_index(directory);
  else open(directory, kWeightFile);
}

void WeightFolder::open(const std::string& directory, const std::string& name) {
  const std::string path = (fs::path(directory) / name).string();
  files_.push_back({name, path, std::make_unique<SafetensorsFile>(path)});
  for (const auto& entry : files_.back().tensors->entries()) {
    const auto [at, fresh] = file_of_.emplace(entry.name, files_.size() - 1);
    if (!fresh) {
      fail(Code::kFormat, "%s: tensor \"%s\" is in %s too.", path.c_str(), shown_name(entry.name).c_str(),
           files_[at->second].name.c_str());
    }
  }
}

void WeightFolder::open_index(const std::string& directory) {
  const std::string index = (fs::path(directory) / kWeightIndex).string();
  index_text_ = read_text(index);
  const Json json = Json::parse(index_text_, index.c_str(), 1 << 22);
  const Json* map = json.find("weight_map");
  if (!map) fail(Code::kFormat, "%s: \"weight_map\" is missing.", index.c_str());
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->members(index.c_str())) {
    const std::string& name = file.as_string(index.c_str());
    if (!is_plain_name(name)) {
      fail(Code::kFormat, "%s: \"%s\" is in \"%s\", which is not a plain file name.", index.c_str(),
           shown_name(tensor).c_str(), shown_name(name).c_str());
    }
    names.insert(name);
  }
  for (const std::string& name : names) open(directory, name);
  for (const auto& [tensor, file] : map->members(index.c_str())) {
    const Found found = find(tensor);
    if (found.file && found.file->name == file.as_string(index.c_str())) continue;
    fail(Code::kFormat, "%s: tensor \"%s\" is not in %s, where the index has it.", index.c_str(),
         shown_name(tensor).c_str(), file.as_string(index.c_str()).c_str());
  }
}

WeightFolder::Found WeightFolder::find(const std::string& name) const {
  const auto at = file_of_.find(name);
  if (at == file_of_.end()) return {};
  const File& file = files_[at->second];
  return {&file, file.tensors->find(name)};
}

std::string text_model_name(const std::string& stored) {
  std::string_view name = stored;
  for (const char* other : {"vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.multi_modal_projector.", "visual.",
                             "model.visual.", "model.audio_tower.", "model.embed_vision.", "model.embed_audio.", "model.mtp_layers.", "mtp."}) {
    if (take_prefix(name, other)) return "";
  }
  constexpr std::string_view kFrequencies = "rotary_emb.inv_freq";
  if (name.size() >= kFrequencies.size() && name.substr(name.size() - kFrequencies.size()) == kFrequencies) return "";
  if (take_prefix(name, "backbone.")) return "model." + std::string(name);  // Nemotron-H's files
  if (take_prefix(name, "language_model.")) return std::string(name);
  if (take_prefix(name, "model.language_model.")) return "model." + std::string(name);
  return std::string(name);
}

int64_t layer_number(const std::string& name) {
  constexpr std::string_view kLayers = "model.layers.";
  return name.starts_with(kLayers) ? std::atoll(name.c_str() + kLayers.size()) : -1;
}

}  // namespace hone::model
