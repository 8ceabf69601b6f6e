#include "model/hf_loader.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <map>

#include "model/stored_weights.h"
#include "model/weight_folder.h"

namespace hone::model {
namespace {

/// Checks the head that a tied model's files may contain: it must equal the embedding.
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

/// Whether a tensor belongs to a layer after the model's last one; such layers predict further tokens.
bool is_further_layer(const std::string& name, const ModelConfig& config) {
  const int64_t layer = layer_number(name);
  return layer >= config.layers && layer < config.layers + config.further_layers;
}

/// Refuses weights that are not finite, which would otherwise show as NaN in every log-prob, without their
/// origin.
void expect_finite(const TensorView& values, const std::string& path, const std::string& name) {
  constexpr uint32_t kExponent = 0x7f800000u;
  const auto* const bits = values.as<uint32_t>();
  const int64_t n = values.numel();
  int64_t bad = 0;
  // counts, because that vectorizes and a search does not
  for (int64_t i = 0; i < n; ++i) bad += (bits[i] & kExponent) == kExponent;
  if (bad == 0) return;
  const auto* const first = std::find_if(bits, bits + n, [](uint32_t b) { return (b & kExponent) == kExponent; });
  fail(Code::kFormat, "%s: tensor \"%s\" has %lld of %lld values that are not finite, the first (%g) at %lld.", path.c_str(),
       name.c_str(), (long long)bad, (long long)n, double(values.as<float>()[first - bits]), (long long)(first - bits));
}

/// Tracks which of the parameters' tensors have been filled; each must be filled once.
class Filling {
 public:
  Filling(Parameters& parameters) : parameters_(parameters) {
    for (const TensorSpec& spec : parameters.specs()) all_.emplace(spec.name, &spec);
    missing_ = all_;
  }
  /// Fills the parameter `name`, or those of all experts of a layer, from a stored tensor.
  void fill(const StoredWeight& stored, const std::string& name, const std::string& path) {
    const std::vector<StoredPart> parts = all_.contains(name) ? std::vector<StoredPart>{} : expert_parts(name, stored.shape);
    if (parts.empty()) return one(stored, name, path);
    for (const StoredPart& part : parts) {
      const SafetensorsFile::Entry values = part_of(*stored.entry, part);
      one({values.name, part.shape, &values, {}}, part.name, path);
    }
  }
  void finish(const std::string& directory) const {
    if (missing_.empty()) return;
    fail(Code::kFormat, "%s: tensor \"%s\" is missing (%zu missing in all).", directory.c_str(), missing_.begin()->first.c_str(), missing_.size());
  }

 private:
  void one(const StoredWeight& stored, const std::string& name, const std::string& path) {
    const std::string shown = shown_name(stored.entry->name);
    if (missing_.erase(name) == 0) {
      fail(Code::kFormat, "%s: tensor \"%s\" %s.", path.c_str(), shown.c_str(), all_.contains(name) ? "is stored twice" : "does not belong to this architecture");
    }
    parameters_.write(parameters_.view(*all_.at(name)), [&](const TensorView& host) {
      read_weight(stored, host, path);
      expect_finite(host, path, shown);
    });
  }

  Parameters& parameters_;
  // maps, since mixtures of experts have tens of thousands of tensors
  std::map<std::string, const TensorSpec*> all_, missing_;
};

}  // namespace

ModelConfig load_hf_config(const std::string& directory) {
  const std::string path = (std::filesystem::path(directory) / "config.json").string();
  return parse_hf_config(parse_config_json(read_text(path), path.c_str()), path.c_str());
}

LoadReport load_hf_weights(const std::string& directory, Parameters& parameters) {
  LoadReport report;
  Filling filling(parameters);
  const SafetensorsFile::Entry* tied_head = nullptr;
  const WeightFolder folder(directory);
  for (const WeightFolder::File& file : folder.files()) {
    for (const auto& entry : file.tensors->entries()) {
      const std::optional<StoredWeight> stored = stored_weight(folder, file, entry);
      const std::string name = stored ? text_model_name(stored->name) : "";
      const bool head_again = parameters.config().tied_head && name == "lm_head.weight";
      if (head_again) tied_head = &entry;
      if (name.empty() || head_again || is_further_layer(name, parameters.config())) {
        ++report.skipped;
        continue;
      }
      filling.fill(*stored, name, file.path);
      file.tensors->forget(entry);
      if (stored->quantized()) stored->scales.file->tensors->forget(*stored->scales.entry);
      ++report.loaded;
    }
  }
  report.files = int64_t(folder.files().size());
  filling.finish(directory);
  if (tied_head) check_tied_head(*tied_head, parameters);
  return report;
}

}  // namespace hone::model
