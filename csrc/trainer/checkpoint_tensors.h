// Reads and writes tensors in a checkpoint's files: whole tensors, or pieces that ranks wrote.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/safetensors.h"
#include "model/tensor_block.h"
#include "trainer/checkpoint_manifest.h"

namespace hone::trainer {

/// A tensor, or a piece of one, to be stored under `name`. block: owner of the view; null if the view is in
/// host memory.
struct StoredTensor {
  std::string name;
  const model::TensorBlock* block;
  TensorView view;
  std::vector<int64_t> shape;
  int64_t bytes() const { return view.numel() * dtype_bytes(view.dtype); }
};

/// Name of elements [first, first + count) of a tensor of n elements; the tensor's own name if these are all
/// n.
std::string piece_name(const std::string& tensor, int64_t first, int64_t count, int64_t n);

/// Appends all tensors of a block to `out`, named `prefix` + own name.
void append_tensors(const model::TensorBlock& block, const std::string& prefix, std::vector<StoredTensor>& out);

/// Writes one safetensors file, durably. Tensors on a device are first copied to the host, which takes host
/// memory for the whole file.
CheckpointFile write_tensors(const std::string& folder, const std::string& name, const StoredTensor* tensors, size_t count);

/// Writes <stem>.safetensors, or numbered files of at most shard_bytes with an index in transformers' format.
/// This rank writes files number rank, rank + ranks, ...; rank 0 also writes the index.
void write_tensor_files(const std::string& folder, const std::string& stem, const std::vector<StoredTensor>& tensors,
                        int64_t shard_bytes, int rank, int ranks, std::vector<CheckpointFile>& files);

/// The tensors of all files of a folder by name, assembled from pieces that may be in different files.
class CheckpointTensors {
 public:
  /// Adds a file. Throws kFormat for a file that is not safetensors, or has pieces whose ranges are not named
  /// as by piece_name.
  void open(const std::string& path);
  /// Throws kFormat naming the tensor unless the files have every element of every tensor exactly once, with
  /// that dtype.
  void check(const std::vector<model::TensorSpec>& specs, const std::string& prefix, DType dtype) const;
  /// Reads elements [first, first + count) of a tensor. check() must have passed.
  void read(const std::string& name, int64_t first, int64_t count, void* out) const;
  /// Fills every tensor of a block from the files.
  void fill(model::TensorBlock& tensors, const std::string& prefix) const;

 private:
  struct Piece {
    const model::SafetensorsFile::Entry* entry;
    int64_t count;
    bool whole;
  };
  std::vector<std::unique_ptr<model::SafetensorsFile>> files_;
  std::map<std::string, std::map<int64_t, Piece>> pieces_;  // pieces of each tensor by their first element
};

}  // namespace hone::trainer
