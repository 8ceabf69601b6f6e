#include "model/shards.h"

#include "check.h"

namespace model_shards_test {
namespace {

using namespace hone;

std::string shown(const std::vector<int64_t>& sizes, int64_t limit) {
  std::string out;
  for (const model::ShardRange& shard : model::divide_into_shards(sizes, limit)) {
    out += "[" + std::to_string(shard.begin) + "," + std::to_string(shard.end) + ")";
  }
  return out;
}

TEST(shards_are_filled_one_after_the_other) {
  EXPECT_EQ(shown({3, 3, 3, 3}, 6), std::string("[0,2)[2,4)"));
  EXPECT_EQ(shown({3, 3, 3, 3}, 8), std::string("[0,2)[2,4)"));
  EXPECT_EQ(shown({3, 3, 3, 3}, 100), std::string("[0,4)"));
  EXPECT_EQ(shown({1, 9, 1}, 4), std::string("[0,1)[1,2)[2,3)"));
  EXPECT_EQ(shown({9, 0, 1}, 4), std::string("[0,1)[1,3)"));
  EXPECT_EQ(shown({0, 0, 9}, 4), std::string("[0,3)"));
  EXPECT_EQ(shown({}, 4), std::string("[0,0)"));
}

TEST(names_are_those_transformers_writes) {
  EXPECT_EQ(model::shard_name("model", 0, 1), std::string("model.safetensors"));
  EXPECT_EQ(model::shard_name("model", 1, 3), std::string("model-00002-of-00003.safetensors"));
  EXPECT_EQ(model::shard_name("optimizer", 123455, 123456), std::string("optimizer-123456-of-123456.safetensors"));
}

TEST(an_index_is_json_with_metadata_and_every_tensor) {
  Json metadata = Json::object();
  metadata.set("total_size", Json::integer(12));
  const Json index = Json::parse(model::shard_index(metadata, {{"a\"b", "x.safetensors"}, {"c", "y.safetensors"}}), "index");
  EXPECT_EQ(index.dump(), std::string(R"({"metadata":{"total_size":12},"weight_map":{"a\"b":"x.safetensors","c":"y.safetensors"}})"));
}

}  // namespace
}  // namespace model_shards_test
