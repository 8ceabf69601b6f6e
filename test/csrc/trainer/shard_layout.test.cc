// ShardLayout: every element has one owner, blocks do not depend on the number of ranks, and no rank owns
// much more than others. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/shard_layout.h"

#include <algorithm>
#include <set>

#include "check.h"
#include "model/parameters.h"
#include "model/reference.h"

namespace trainer_shard_layout_test {
namespace {

using namespace hone;
using trainer::kShardBlock;
using trainer::ShardBucket;
using trainer::ShardLayout;
using trainer::ShardPart;

std::vector<model::TensorSpec> specs_of(int64_t vocabulary) {
  model::ModelConfig config = test::tiny_config();
  config.vocabulary = vocabulary;
  return model::tensor_specs(config);
}

TEST(every_element_has_one_owner) {
  const auto specs = specs_of(3000);
  const int64_t n = model::total_elements(specs), layers = test::tiny_config().layers;
  for (const int ranks : {1, 2, 3, 4, 7, 50}) {
    const ShardLayout layout(specs, layers, ranks, 3 * kShardBlock);
    std::vector<int> owners(static_cast<size_t>(n), 0);
    for (int rank = 0; rank < ranks; ++rank) {
      int64_t local = 0, blocks = 0;
      for (size_t b = 0; b < layout.buckets().size(); ++b) {
        const ShardPart& part = layout.part(b, rank);
        const ShardBucket& bucket = layout.buckets()[b];
        EXPECT_EQ(part.local, local);
        EXPECT_TRUE(part.count <= layout.width(b) && layout.width(b) <= layout.widest());
        if (part.count > 0) {
          EXPECT_TRUE(part.offset >= bucket.offset && part.offset + part.count <= bucket.offset + bucket.count);
          EXPECT_EQ((part.offset - bucket.offset) % kShardBlock, 0);
          EXPECT_EQ(part.block, bucket.first_block + (part.offset - bucket.offset) / kShardBlock);
        }
        EXPECT_EQ(part.blocks, (part.count + kShardBlock - 1) / kShardBlock);
        for (int64_t i = 0; i < part.count; ++i) ++owners[size_t(part.offset + i)];
        local += part.count;
        blocks += part.blocks;
      }
      EXPECT_EQ(layout.elements(rank), local);
      EXPECT_EQ(layout.blocks(rank), blocks);
    }
    EXPECT_TRUE(std::all_of(owners.begin(), owners.end(), [](int owner) { return owner == 1; }));
  }
}

/// The offsets of all blocks, and the layers to which they belong.
std::set<std::pair<int64_t, int64_t>> blocks_of(const ShardLayout& layout) {
  std::set<std::pair<int64_t, int64_t>> blocks;
  for (const ShardBucket& bucket : layout.buckets()) {
    for (int64_t i = 0; i < bucket.blocks(); ++i) blocks.emplace(bucket.offset + i * kShardBlock, bucket.layer);
  }
  return blocks;
}

TEST(blocks_are_the_same_for_any_number_of_ranks_and_any_bucket) {
  const auto specs = specs_of(3000);
  const int64_t layers = test::tiny_config().layers;
  const ShardLayout one(specs, layers, 1);
  EXPECT_EQ(int64_t(blocks_of(one).size()), one.blocks());
  for (const int ranks : {2, 3, 5}) EXPECT_TRUE(blocks_of(ShardLayout(specs, layers, ranks, 2 * kShardBlock)) == blocks_of(one));
  for (const model::TensorSpec& spec : specs) {  // no block has tensors of two layers
    for (const ShardBucket& bucket : one.buckets()) {
      const bool inside = spec.offset >= bucket.offset && spec.offset < bucket.offset + bucket.count;
      if (inside) EXPECT_EQ(bucket.layer, trainer::layer_of(spec, layers));
    }
  }
}

TEST(shards_are_of_about_the_same_size) {
  const auto specs = specs_of(30000);
  const ShardLayout layout(specs, test::tiny_config().layers, 4);
  const double fair = double(model::total_elements(specs)) / 4.0;
  for (int rank = 0; rank < 4; ++rank) EXPECT_NEAR(double(layout.elements(rank)), fair, 2.0 * kShardBlock);
}

}  // namespace

}  // namespace trainer_shard_layout_test
