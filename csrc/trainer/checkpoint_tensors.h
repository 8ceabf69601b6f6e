// Tensors in the files of a checkpoint: whole, or as pieces that ranks wrote.
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

/// A tensor, or a piece of one, stored under its own name. block: owner of the view; null for one in host memory.
struct StoredTensor {
  std::string name;
  const model::TensorBlock* block;
  TensorView view;
  std::vector<int64_t> shape;
  int64_t bytes() const { return view.numel() * dtype_bytes(view.dtype); }
};

/// The name of elements [first, first + count) of a tensor of n; the tensor's own if they are all n.
std::string piece_name(const std::string& tensor, int64_t first, int64_t count, int64_t n);

/// Appends all tensors of a block, each under its name after `prefix`.
void append_tensors(const model::TensorBlock& block, const std::string& prefix, std::vector<StoredTensor>& out);

/// Writes one safetensors file, durably. Copies a device's tensors to the host first, which takes host memory for a
/// whole file.
CheckpointFile write_tensors(const std::string& folder, const std::string& name, const StoredTensor* tensors, size_t count);

/// Writes <stem>.safetensors, or numbered files of at most shard_bytes with the index that transformers looks for.
/// This rank writes every `ranks`-th file, from number `rank` on; rank 0 writes the index.
void write_tensor_files(const std::string& folder, const std::string& stem, const std::vector<StoredTensor>& tensors,
                        int64_t shard_bytes, int rank, int ranks, std::vector<CheckpointFile>& files);

/// All tensors of all files by name, regardless of where their pieces are.
class CheckpointTensors {
 public:
  /// Throws kFormat for a file that is not safetensors, or has pieces that are not numbered as piece_name does.
  void open(const std::string& path);
  /// Throws kFormat naming the tensor unless every tensor is present exactly once, with that dtype.
  void check(const std::vector<model::TensorSpec>& specs, const std::string& prefix, DType dtype) const;
  /// Elements [first, first + count) of a tensor that was checked.
  void read(const std::string& name, int64_t first, int64_t count, void* out) const;
  /// Fills every tensor of a block.
  void fill(model::TensorBlock& tensors, const std::string& prefix) const;

 private:
  struct Piece {
    const model::SafetensorsFile::Entry* entry;
    int64_t count;
    bool whole;
  };
  std::vector<std::unique_ptr<model::SafetensorsFile>> files_;
  std::map<std::string, std::map<int64_t, Piece>> pieces_;  // of each tensor, by first element
};

}  // namespace hone::trainer
