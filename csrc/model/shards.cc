#include "model/shards.h"

#include <cstdio>

namespace hone::model {

std::vector<ShardRange> divide_into_shards(const std::vector<int64_t>& tensor_bytes, int64_t shard_bytes) {
  std::vector<ShardRange> shards(1);
  int64_t filled = 0;
  for (size_t i = 0; i < tensor_bytes.size(); ++i) {
    if (filled > 0 && filled + tensor_bytes[i] > shard_bytes) {
      shards.push_back({i, i});
      filled = 0;
    }
    shards.back().end = i + 1;
    filled += tensor_bytes[i];
  }
  return shards;
}

std::string shard_name(const std::string& stem, size_t i, size_t shards) {
  char number[48] = "";
  if (shards > 1) std::snprintf(number, sizeof number, "-%05zu-of-%05zu", i + 1, shards);
  return stem + number + ".safetensors";
}

std::string shard_index(Json metadata, const std::vector<std::pair<std::string, std::string>>& file_of_tensor) {
  // Written as text, because Json would search all earlier keys for each new one.
  std::string text = "{\"metadata\":" + metadata.dump() + ",\"weight_map\":{";
  for (size_t i = 0; i < file_of_tensor.size(); ++i) {
    text += i ? ",\n" : "\n";
    text += Json::string(file_of_tensor[i].first).dump() + ":" + Json::string(file_of_tensor[i].second).dump();
  }
  return text + "}}\n";
}

}  // namespace hone::model
