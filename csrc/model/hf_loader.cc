#include "model/hf_loader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <vector>

#include "model/durable_file.h"
#include "model/safetensors.h"

namespace hone::model {
namespace {

bool take_prefix(std::string_view& name, std::string_view prefix) {
  if (name.substr(0, prefix.size()) != prefix) return false;
  name.remove_prefix(prefix.size());
  return true;
}

/// The text model's own name of a stored tensor, or "" for one that no text model has.
std::string canonical_name(std::string_view stored) {
  std::string_view name = stored;
  for (const char* vision : {"vision_tower.", "multi_modal_projector.", "model.vision_tower.", "model.multi_modal_projector."}) {
    if (take_prefix(name, vision)) return "";
  }
  constexpr std::string_view kFrequencies = "rotary_emb.inv_freq";
  if (name.size() >= kFrequencies.size() && name.substr(name.size() - kFrequencies.size()) == kFrequencies) return "";
  if (take_prefix(name, "language_model.")) return std::string(name);
  if (take_prefix(name, "model.language_model.")) return "model." + std::string(name);
  return std::string(name);
}

std::vector<std::string> weight_files(const std::filesystem::path& directory) {
  const std::string index = (directory / "model.safetensors.index.json").string();
  if (!std::filesystem::exists(index)) return {(directory / "model.safetensors").string()};
  const Json json = Json::parse(read_text(index), index.c_str());
  const Json* map = json.find("weight_map");
  if (!map) fail(Code::kFormat, "%s: \"weight_map\" is missing.", index.c_str());
  std::set<std::string> names;
  for (const auto& [tensor, file] : map->members(index.c_str())) {
    const std::string& name = file.as_string(index.c_str());
    if (name.empty() || std::filesystem::path(name).filename() != name) {
      fail(Code::kFormat, "%s: \"%s\" is in \"%s\", which is not a plain file name.", index.c_str(), tensor.c_str(), name.c_str());
    }
    names.insert(name);
  }
  std::vector<std::string> files;
  for (const std::string& name : names) files.push_back((directory / name).string());
  return files;
}

/// Files of a tied model may carry the head again; it must be the same matrix.
void check_tied_head(const SafetensorsFile::Entry& head, const Parameters& parameters) {
  const TensorView embedding = parameters.embedding();
  const int64_t bytes = embedding.numel() * int64_t(sizeof(float));
  Arena arena(Arena::rounded(bytes) + parameters.staging_bytes(embedding), "tied head");
  const TensorView copy = arena.take_view(DType::kF32, {embedding.dim(0), embedding.dim(1)});
  read_as_f32(head, copy);
  if (std::memcmp(copy.data, parameters.read(embedding, arena).data, size_t(bytes)) == 0) return;
  fail(Code::kFormat, "tensor \"%s\" differs from the embedding, but config.json has tie_word_embeddings true.",
       head.name.c_str());
}

}  // namespace

ModelConfig load_hf_config(const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / "config.json").string();
  return parse_hf_config(Json::parse(read_text(path), path.c_str()), path.c_str());
}

LoadReport load_hf_weights(const std::string& directory, Parameters& parameters) {
  LoadReport report;
  std::set<std::string> missing;
  for (const TensorSpec& spec : parameters.specs()) missing.insert(spec.name);
  std::vector<std::unique_ptr<SafetensorsFile>> files;
  const SafetensorsFile::Entry* tied_head = nullptr;
  for (const std::string& path : weight_files(directory)) {
    files.push_back(std::make_unique<SafetensorsFile>(path));
    for (const auto& entry : files.back()->entries()) {
      const std::string name = canonical_name(entry.name);
      const bool head_again = parameters.config().tied_head && name == "lm_head.weight";
      if (head_again) tied_head = &entry;
      if (name.empty() || head_again) {
        ++report.skipped;
        continue;
      }
      if (missing.erase(name) == 0) {
        const bool twice = std::any_of(parameters.specs().begin(), parameters.specs().end(),
                                       [&](const TensorSpec& spec) { return spec.name == name; });
        fail(Code::kFormat, "%s: tensor \"%s\" %s.", path.c_str(), entry.name.c_str(),
             twice ? "is stored twice" : "does not belong to this architecture");
      }
      parameters.write(parameters.view(name), [&](const TensorView& host) { read_as_f32(entry, host); });
      ++report.loaded;
    }
  }
  report.files = int64_t(files.size());
  if (!missing.empty()) {
    fail(Code::kFormat, "%s: tensor \"%s\" is missing (%zu missing in all).", directory.c_str(),
         missing.begin()->c_str(), missing.size());
  }
  if (tied_head) check_tied_head(*tied_head, parameters);
  return report;
}

}  // namespace hone::model
