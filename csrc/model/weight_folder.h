// The weight files of a Hugging Face model folder: one, or shards with an index.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/safetensors.h"

namespace hone::model {

inline constexpr const char* kWeightFile = "model.safetensors";
inline constexpr const char* kWeightIndex = "model.safetensors.index.json";

/// All shards, memory-mapped and checked against the index and each other.
/// Throws kIo for a file that is missing; kFormat naming file and tensor: an index without weight_map, or with a name
/// that is no plain file name, a tensor that is not in the shard the index names, or is in two shards.
class WeightFolder {
 public:
  explicit WeightFolder(const std::string& directory);

  /// Files in ascending order of their names.
  struct File {
    std::string name, path;
    std::unique_ptr<SafetensorsFile> tensors;
  };
  const std::vector<File>& files() const { return files_; }
  struct Found {
    const File* file = nullptr;
    const SafetensorsFile::Entry* entry = nullptr;
  };
  /// Null pointers if no file has it.
  Found find(const std::string& name) const;
  /// The index as it stands; empty for a folder of one file.
  const std::string& index_text() const { return index_text_; }

 private:
  void open(const std::string& directory, const std::string& name);
  void open_index(const std::string& directory);

  std::vector<File> files_;
  std::unordered_map<std::string, size_t> file_of_;
  std::string index_text_;
};

/// A text model's own name of a stored tensor ("model.layers.0...."), whatever wrapper's prefix it is stored with, or
/// "" for one that no text model has: vision towers, projectors, layers that predict further
/// tokens, stored rotary frequencies.
std::string text_model_name(const std::string& stored);
/// The number of the layer that a tensor of such a name belongs to; -1 outside of layers.
int64_t layer_number(const std::string& name);

}  // namespace hone::model
