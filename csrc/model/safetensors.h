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

/// A read-only, memory-mapped file. Views live as long as the object; the file must not shrink meanwhile.
/// Throws kIo (errno text) or kFormat naming file and tensor: short file, header over 100 MB or of over a million
/// values, not a JSON object, bytes that are not UTF-8, duplicate or overlapping or out-of-range tensors, gaps,
/// bytes after the last one, unknown dtype, size not shape times dtype. No byte outside the file is read, and no
/// more memory is taken than the header's own size warrants.
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
  /// In the header's order.
  const std::vector<Entry>& entries() const { return entries_; }
  const Entry* find(const std::string& name) const;
  const SafetensorsMetadata& metadata() const { return metadata_; }
  /// Tells the system that an entry's bytes are not needed for now; a later access reads them from the file again.
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

/// A name out of a file as messages show it: at most 120 bytes, no control characters.
std::string shown_name(const std::string& name);

/// Copies an entry of dtype f32, bf16, f16 or f64 into f32. Throws kFormat on another dtype or shape, naming the
/// entry and `where` it is from.
void read_as_f32(const SafetensorsFile::Entry& entry, const TensorView& out, const std::string& where = "safetensors");

/// Writes one file piece by piece: the header at once, then every tensor's bytes. Data starts at a multiple of 8, and
/// each tensor at one of its element's size, because wider types come first (otherwise in the order given).
/// Throws kIo with the errno text; without commit the file is not there.
class SafetensorsWriter {
 public:
  struct Tensor {
    std::string name;
    DType dtype;
    std::vector<int64_t> shape;
    int64_t bytes() const;
  };
  SafetensorsWriter(const std::string& path, std::vector<Tensor> tensors, const SafetensorsMetadata& metadata);

  /// In the order in which the bytes are to be written.
  const std::vector<Tensor>& tensors() const { return tensors_; }
  void write(const void* bytes, int64_t size) { file_.write(bytes, size); }
  /// Throws kInternal unless every byte was written. Returns the sha256 of the file in hex.
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
