// How much of sharded weights a rank keeps in memory, by the resident memory that the system reports; and
// detecting weights that differ between ranks. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/sharded_weights.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "check.h"
#include "model/reference.h"
#include "trainer/on_ranks.h"

namespace trainer_sharded_weights_test {
namespace {

using namespace hone;
using trainer::ShardedWeights;
using trainer::ShardExchange;
using trainer::ShardLayout;

int64_t resident_bytes(const TensorView& block) {
  const auto page = uintptr_t(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<uintptr_t>(block.data) / page * page;
  const auto end = reinterpret_cast<uintptr_t>(block.data) + uintptr_t(block.numel()) * sizeof(float);
  std::vector<unsigned char> pages((end - begin + page - 1) / page);
  EXPECT_EQ(mincore(reinterpret_cast<void*>(begin), end - begin, pages.data()), 0);
  int64_t resident = 0;
  for (const unsigned char one : pages) resident += one & 1;
  return resident * int64_t(page);
}

TEST(a_rank_keeps_its_shard_until_weights_are_fetched) {
  model::ModelConfig config = test::tiny_config();
  config.layers = 6;
  config.width = config.mlp_width = 256;
  const auto said = test::on_ranks(3, [&](dist::Communicator& ranks) {
    model::Parameters parameters(config);
    test::roughen(parameters, 5);
    const std::vector<float> before(parameters.flat().as<float>(), parameters.flat().as<float>() + parameters.flat().numel());
    const ShardLayout layout(parameters.specs(), config.layers, ranks.size());
    ShardExchange exchange(Stream{}, layout, ranks);
    ShardedWeights weights(parameters, layout, exchange, ranks);
    weights.divide({parameters, layout, ranks}, Stream{}, {});
    const int64_t all = resident_bytes(parameters.flat());
    weights.settle("test");
    int64_t kept = 0;
    for (const auto& bucket : layout.buckets()) kept += bucket.layer == config.layers ? bucket.count * 4 : 0;
    kept += layout.elements(ranks.rank()) * 4;
    const int64_t pages_at_ends = int64_t(layout.buckets().size()) * 4 * sysconf(_SC_PAGESIZE);
    EXPECT_TRUE(all >= parameters.flat().numel() * 4 && kept < all / 2);
    EXPECT_TRUE(resident_bytes(parameters.flat()) <= kept + pages_at_ends);
    weights.fetch();
    EXPECT_TRUE(test::same_bits(parameters.flat().as<float>(), before.data(), parameters.flat().numel()));
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(weights_that_differ_are_told_before_any_is_forgotten) {
  const model::ModelConfig config = test::tiny_config();
  const auto said = test::on_ranks(2, [&](dist::Communicator& ranks) {
    model::Parameters parameters(config);
    test::roughen(parameters, 5);
    if (ranks.rank() == 1) parameters.flat().as<float>()[3] += 1.0f;
    const std::vector<float> before(parameters.flat().as<float>(), parameters.flat().as<float>() + parameters.flat().numel());
    const ShardLayout layout(parameters.specs(), config.layers, ranks.size());
    ShardExchange exchange(Stream{}, layout, ranks);
    ShardedWeights weights(parameters, layout, exchange, ranks);
    weights.divide({parameters, layout, ranks}, Stream{}, {});
    std::string told;
    try {
      weights.settle("test");
    } catch (const Error& error) {
      told = error.what();
    }
    EXPECT_TRUE(test::has(told, "differ from those of other ranks"));
    EXPECT_TRUE(test::same_bits(parameters.flat().as<float>(), before.data(), parameters.flat().numel()));
    test::roughen(parameters, 6);
    weights.written();
    weights.settle("test");
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

}  // namespace

}  // namespace trainer_sharded_weights_test
