// ShardExchange: sums are taken in rank order, element by element; gathered values are those of the ranks
// that own them. Mutation tests: test/mutants/csrc-trainer.json.
#include "trainer/shard_exchange.h"

#include <cmath>

#include "check.h"
#include "model/parameters.h"
#include "model/reference.h"
#include "trainer/on_ranks.h"

namespace trainer_shard_exchange_test {
namespace {

using namespace hone;
using trainer::kShardBlock;
using trainer::ShardExchange;
using trainer::ShardLayout;
using trainer::ShardPart;

std::vector<model::TensorSpec> specs() {
  model::ModelConfig config = test::tiny_config();
  config.vocabulary = 2000;
  return model::tensor_specs(config);
}

/// Random numbers whose sum depends on the order.
std::vector<float> drawn(int64_t n, int seed) {
  std::mt19937_64 random(static_cast<uint64_t>(seed));
  std::normal_distribution<float> normal(0.0f, 1.0f);
  std::vector<float> out(static_cast<size_t>(n));
  for (float& x : out) x = normal(random) * (random() % 3 ? 1.0f : 1e6f);
  return out;
}

using Body = std::function<void(dist::Communicator&, const ShardLayout&, ShardExchange&)>;

void with_exchange(int size, const Body& body) {
  const auto said = test::on_ranks(size, [&](dist::Communicator& ranks) {
    const ShardLayout layout(specs(), test::tiny_config().layers, size, 2 * kShardBlock);
    ShardExchange exchange(Stream{}, layout, ranks);
    body(ranks, layout, exchange);
  });
  for (const std::string& text : said) EXPECT_EQ(text, std::string("ok"));
}

TEST(gradients_are_added_in_the_order_of_ranks) {
  const int64_t n = model::total_elements(specs());
  for (const int size : {1, 2, 3, 4}) {
    for (int given = 1; given <= size; ++given) {
      std::vector<float> wanted = drawn(n, 99);
      for (int rank = 0; rank < given; ++rank) {
        const std::vector<float> gradients = drawn(n, rank);
        for (size_t i = 0; i < wanted.size(); ++i) wanted[i] += gradients[i];
      }
      with_exchange(size, [&](dist::Communicator& ranks, const ShardLayout& layout, ShardExchange& exchange) {
        const std::vector<float> own = drawn(n, ranks.rank()), start = drawn(n, 99);
        std::vector<float> shard(static_cast<size_t>(layout.elements(ranks.rank()))), earlier(shard);
        exchange.reduce(drawn(n, 7).data(), size, earlier.data());  // nothing of this may remain
        for (size_t b = 0; b < layout.buckets().size(); ++b) {
          const ShardPart& part = layout.part(b, ranks.rank());
          std::copy_n(start.data() + part.offset, part.count, shard.data() + part.local);
        }
        exchange.reduce(own.data(), given, shard.data());
        for (size_t b = 0; b < layout.buckets().size(); ++b) {
          const ShardPart& part = layout.part(b, ranks.rank());
          EXPECT_TRUE(test::same_bits(shard.data() + part.local, wanted.data() + part.offset, part.count));
        }
      });
    }
  }
}

TEST(all_ranks_get_what_the_owners_have) {
  const int64_t n = model::total_elements(specs());
  with_exchange(3, [&](dist::Communicator& ranks, const ShardLayout& layout, ShardExchange& exchange) {
    std::vector<float> whole = test::poison(n);
    const std::vector<float> wanted = drawn(n, 5);
    for (size_t b = 0; b < layout.buckets().size(); ++b) {
      const ShardPart& part = layout.part(b, ranks.rank());
      std::copy_n(wanted.data() + part.offset, part.count, whole.data() + part.offset);
    }
    exchange.gather(whole.data());
    EXPECT_TRUE(test::same_bits(whole.data(), wanted.data(), n));
    EXPECT_TRUE(exchange.same(whole.data()));
  });
}

TEST(a_single_other_bit_is_seen_by_those_that_do_not_own_it) {
  const int64_t n = model::total_elements(specs());
  std::vector<uint8_t> saw(3, 0);
  with_exchange(3, [&](dist::Communicator& ranks, const ShardLayout& layout, ShardExchange& exchange) {
    std::vector<float> whole = drawn(n, 5);
    const ShardPart& part = layout.part(layout.buckets().size() - 2, 1);
    if (ranks.rank() == 1) whole[size_t(part.offset + part.count - 1)] = std::nextafter(whole[size_t(part.offset + part.count - 1)], 1e9f);
    saw[size_t(ranks.rank())] = !exchange.same(whole.data());
  });
  EXPECT_TRUE(saw[0] && !saw[1] && saw[2]);
}

TEST(numbers_of_blocks_come_in_the_order_of_blocks) {
  with_exchange(4, [&](dist::Communicator& ranks, const ShardLayout& layout, ShardExchange& exchange) {
    std::vector<double> own;
    for (size_t b = 0; b < layout.buckets().size(); ++b) {
      const ShardPart& part = layout.part(b, ranks.rank());
      for (int64_t i = 0; i < part.blocks; ++i) own.push_back(double(part.block + i) + 0.5);
    }
    const std::vector<double> all = exchange.gather_blocks(own);
    EXPECT_EQ(int64_t(all.size()), layout.blocks());
    for (size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], double(i) + 0.5);
  });
}

TEST(it_takes_the_memory_that_it_says) {
  const ShardLayout layout(specs(), test::tiny_config().layers, 3, 2 * kShardBlock);
  const int64_t before = Arena::live_bytes(Memory::kHost);
  with_exchange(1, [&](dist::Communicator& ranks, const ShardLayout& own, ShardExchange&) {
    EXPECT_EQ(ranks.size(), 1);
    EXPECT_EQ(Arena::live_bytes(Memory::kHost) - before, trainer::shard_exchange_bytes(own));
  });
}

}  // namespace

}  // namespace trainer_shard_exchange_test
