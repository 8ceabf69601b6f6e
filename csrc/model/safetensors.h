// safetensors files: memory-mapped reading with full header checks, and durable writing.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/tensor.h"

namespace hone::model {

/// A read-only, memory-mapped file. Views live as long as the object.
/// Throws kIo (errno text) or kFormat naming file and tensor: short file, header over 100 MB, not JSON,
/// duplicate or overlapping or out-of-range tensors, gaps, unknown dtype, size not shape times dtype.
/// Source: github.com/huggingface/safetensors README, "Format".
class SafetensorsFile {
 public:
  explicit SafetensorsFile(const std::string& path);
  ~SafetensorsFile();
  SafetensorsFile(const SafetensorsFile&) = delete;
  SafetensorsFile& operator=(const SafetensorsFile&) = delete;

  struct Entry {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    const void* data;
    int64_t bytes;
  };
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  const std::vector<std::pair<std::string, std::string>>& metadata() const { return metadata_; }

 private:
  void parse();

  std::string path_;
  void* map_ = nullptr;
  int64_t size_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::pair<std::string, std::string>> metadata_;
};

/// Copies an entry of dtype f32, bf16, f16 or f64 into f32. Throws kFormat on another dtype or shape.
void read_as_f32(const SafetensorsFile::Entry& entry, const TensorView& out);

/// Writes entries to `path` through `path`.tmp, fsync and rename; returns the sha256 of the file in hex.
/// Throws kIo with the errno text; the temporary file is removed.
std::string write_safetensors(const std::string& path, const std::vector<SafetensorsFile::Entry>& entries,
                              const std::vector<std::pair<std::string, std::string>>& metadata = {});

}  // namespace hone::model
