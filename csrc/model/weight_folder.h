// The weight files of a Hugging Face model folder: one file, or shards with an index.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/safetensors.h"

namespace hone::model {

inline constexpr const char* kWeightFile = "model.safetensors";
inline constexpr const char* kWeightIndex = "model.safetensors.index.json";

/// All weight files of a folder, memory-mapped and checked against the index and each other. Throws kIo for a
/// missing file; kFormat naming file and tensor if the index lacks weight_map or has a name that is not a
/// plain file name, or if a tensor is not in the shard that the index names, or is in two shards.
class WeightFolder {
 public:
  explicit WeightFolder(const std::string& directory);

  /// A weight file; files are sorted by name.
  struct File {
    std::string name, path;
    std::unique_ptr<SafetensorsFile> tensors;
  };
  const std::vector<File>& files() const { return files_; }
  struct Found {
    const File* file = nullptr;
    const SafetensorsFile::Entry* entry = nullptr;
  };
  /// Finds a tensor by name; null pointers if no file has it.
  Found find(const std::string& name) const;
  /// The text of the index file; empty for a folder with one weight file.
  const std::string& index_text() const { return index_text_; }

 private:
  void open(const std::string& directory, const std::string& name);
  void open_index(const std::string& directory);

  std::vector<File> files_;
  std::unordered_map<std::string, size_t> file_of_;
  std::string index_text_;
};

/// The text model's name ("model.layers.0....") for a stored tensor, without the prefix of a vision-language
/// wrapper; "" if the text model has no such tensor: vision towers, projectors, layers that predict further
/// tokens, stored rotary frequencies.
std::string text_model_name(const std::string& stored);
/// Index of the layer to which a tensor of that text_model_name belongs; -1 for tensors outside of layers.
int64_t layer_number(const std::string& name);

}  // namespace hone::model
