// Divides tensors over shard files, with the names and index that transformers uses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"

namespace hone::model {

/// Tensors [begin, end) of a list: the contents of one shard.
struct ShardRange {
  size_t begin = 0, end = 0;
};

/// Fills one shard after the other, each with at most shard_bytes unless a single tensor has more. Returns at
/// least one shard, even for no tensors.
std::vector<ShardRange> divide_into_shards(const std::vector<int64_t>& tensor_bytes, int64_t shard_bytes);

/// File name of shard `i` (from 0): "<stem>.safetensors" if there is one shard,
/// "<stem>-00002-of-00003.safetensors" otherwise.
std::string shard_name(const std::string& stem, size_t i, size_t shards);

/// Text of <stem>.safetensors.index.json, which maps each tensor to its file.
std::string shard_index(Json metadata, const std::vector<std::pair<std::string, std::string>>& file_of_tensor);

}  // namespace hone::model
