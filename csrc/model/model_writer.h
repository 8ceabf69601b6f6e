// Model folders as transformers loads them: the names, shards and dtypes of another folder, or chosen ones.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/tensor.h"

namespace hone::model {

struct ModelWriterOptions {
  /// The folder whose tensors, names and shards are written.
  std::string source{};
  /// A folder with other values, by the text model's own names (a checkpoint): each of its tensors must be
  /// one of the source's, of the same shape; those that the source has quantized are written as bf16, without
  /// scales. Tensors of the source that no text model has keep value and dtype. Empty: the source's own
  /// values.
  std::string values{};
  /// Appears complete or not at all; an existing folder is replaced.
  std::string target{};
  /// f32, bf16 or f16 for every float tensor (but stored rotary frequencies, and what a text model does not have
  /// when there are `values`); none: each as in the source.
  std::optional<DType> dtype{};
  /// Bytes of tensors in a file, unless a single tensor has more; 0: the source's files.
  int64_t shard_bytes = 0;
  /// Further files of the folder: `text`, or the contents of the file at `from`.
  struct Extra {
    std::string name, text, from;
  };
  std::vector<Extra> extras{};
  /// Called now and then, and at the end. Throw from it to stop.
  std::function<void(int64_t done_bytes, int64_t total_bytes)> on_progress{};
};

struct ModelWriterReport {
  int64_t tensors = 0;    // written
  int64_t converted = 0;  // of them, to another dtype
  int64_t replaced = 0;   // of them, with a value from `values`
  int64_t files = 0;      // of weights
  int64_t bytes = 0;      // of tensors
};

/// Streams every tensor from the mapped source through a buffer of some MiB into <target>.tmp-<process>, syncs, and
/// puts that at `target` in one step. With the source's dtypes and shards every tensor's bytes are the source's.
/// Throws kIo; kFormat naming file and tensor (damaged source, values that do not fit it); kData naming tensor, element
/// and value for a number that is too large for the dtype. Nothing is left behind then and an older folder is untouched.
/// Source: github.com/huggingface/safetensors README, "Format"; transformers, save_pretrained.
ModelWriterReport write_model_folder(const ModelWriterOptions& options);

}  // namespace hone::model
