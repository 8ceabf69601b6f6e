// How tensors are divided over files, as transformers names and indexes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"

namespace hone::model {

/// Tensors [begin, end) of a list.
struct ShardRange {
  size_t begin = 0, end = 0;
};

/// Fills one shard after the other, none with more than shard_bytes unless a single tensor has more. At least one
/// shard, even of nothing.
std::vector<ShardRange> divide_into_shards(const std::vector<int64_t>& tensor_bytes, int64_t shard_bytes);

/// "<stem>.safetensors" of one, "<stem>-00002-of-00003.safetensors" of several. `i` counts from 0.
std::string shard_name(const std::string& stem, size_t i, size_t shards);

/// Text of <stem>.safetensors.index.json: which file each tensor is in.
std::string shard_index(Json metadata, const std::vector<std::pair<std::string, std::string>>& file_of_tensor);

}  // namespace hone::model
