// Writes model folders that transformers loads, with names, shards and dtypes of a source folder or with
// chosen ones.
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
  /// A folder (a checkpoint) with new values, under the text model's names. Each of its tensors must be one
  /// of the source's and have its shape; tensors that the source has quantized are written as bf16, without
  /// scales. Tensors of the source that are not part of the text model keep value and dtype. Empty: all
  /// values are the source's.
  std::string values{};
  /// The folder to write. It appears complete or not at all; an existing folder is replaced.
  std::string target{};
  /// f32, bf16 or f16: the dtype of every float tensor, except stored rotary frequencies and, if `values` is
  /// set, tensors that are not part of the text model. No value: each tensor keeps the source's dtype.
  std::optional<DType> dtype{};
  /// Limit of the bytes of tensors in one file, which only a single larger tensor may exceed; 0: the source's
  /// division into files.
  int64_t shard_bytes = 0;
  /// A further file of the folder: its content is `text`, or that of the file at `from`.
  struct Extra {
    std::string name, text, from;
  };
  std::vector<Extra> extras{};
  /// Called repeatedly during the writing, and at the end. May throw to stop.
  std::function<void(int64_t done_bytes, int64_t total_bytes)> on_progress{};
};

struct ModelWriterReport {
  int64_t tensors = 0;    // tensors written
  int64_t converted = 0;  // tensors that changed dtype
  int64_t replaced = 0;   // tensors whose value came from `values`
  int64_t files = 0;      // weight files written
  int64_t bytes = 0;      // bytes of all tensors
};

/// Streams every tensor from the memory-mapped source through a buffer of some MiB into
/// <target>.tmp-<process>, syncs it, and moves it to `target` in one step. With the source's dtypes and
/// shards, every tensor's bytes equal the source's. Throws kIo; kFormat naming file and tensor (damaged
/// source, values that do not fit it); kData naming tensor, element and value for a number that is too large
/// for the dtype. After a throw nothing is left behind and an older folder is untouched. Source:
/// github.com/huggingface/safetensors README, "Format"; transformers, save_pretrained.
ModelWriterReport write_model_folder(const ModelWriterOptions& options);

}  // namespace hone::model
