// safetensors files: memory-mapped reading with full header checks, and durable writing.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/json.h"
#include "core/tensor.h"
#include "model/durable_file.h"

namespace hone::model {

using SafetensorsMetadata = std::vector<std::pair<std::string, std::string>>;

/// A read-only, memory-mapped safetensors file. Views are valid as long as the object; the file must not
/// shrink meanwhile. Throws kIo (errno text), or kFormat naming file and tensor for: a short file; a header
/// over 100 MB, with over a million values, that is not a JSON object, or with bytes that are not UTF-8;
/// tensors that are duplicate, overlapping or out of range; gaps; bytes after the last tensor; an unknown
/// dtype; a size that is not shape times dtype. Never reads outside the file, and allocates no more than the
/// header's size justifies. Source: github.com/huggingface/safetensors README, "Format".
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
  /// All tensors, in the header's order.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  const SafetensorsMetadata& metadata() const { return metadata_; }
  /// Tells the operating system that it may drop an entry's pages from memory; a later access reads them from
  /// the file again.
  void forget(const Entry& entry) const;

 private:
  void parse();

  std::string path_;
  void* map_ = nullptr;
  int64_t size_ = 0;
  std::vector<Entry> entries_;
  std::unordered_map<std::string, size_t> index_;
  SafetensorsMetadata metadata_;
};

/// A name read from a file, shortened and cleaned for messages: at most 120 bytes, no control characters.
std::string shown_name(const std::string& name);

/// Copies an entry of dtype f32, bf16, f16 or f64 to f32 `out`. Throws kFormat on another dtype or shape; the
/// message names the entry and `where`, the file it comes from.
void read_as_f32(const SafetensorsFile::Entry& entry, const TensorView& out, const std::string& where = "safetensors");

/// Writes one file incrementally: the constructor writes the header, write() the tensors' bytes. Data starts
/// at a multiple of 8 bytes, and wider dtypes come first (otherwise the order is as given), so that each
/// tensor is aligned to its element size. Throws kIo with the errno text; without commit() there is no file.
class SafetensorsWriter {
 public:
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    int64_t bytes() const;
  };
  SafetensorsWriter(const std::string& path, std::vector<Tensor> tensors, const SafetensorsMetadata& metadata);

  /// The tensors in the order in which their bytes must be written.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  void write(const void* bytes, int64_t size) { file_.write(bytes, size); }
  /// Completes the file. Throws kInternal unless every byte was written. Returns the sha256 of the file in
  /// hex.
  std::string commit();
  int64_t size() const { return file_.size(); }

 private:
  std::vector<Tensor> tensors_;
  DurableFile file_;
  int64_t expected_ = 0;
};

/// Writes entries to `path` through `path`.tmp, fsync and rename; returns the sha256 of the file in hex.
/// Throws kIo with the errno text; the temporary file is removed.
std::string write_safetensors(const std::string& path, const std::vector<SafetensorsFile::Entry>& entries,
                              const SafetensorsMetadata& metadata = {});

}  // namespace hone::model
