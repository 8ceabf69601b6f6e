// HostCollectives without a queue's thread: broadcast trees of every shape, and which differences of labels
// are detected.
#include "dist/host_collectives.h"

#include "conformance.h"
#include "local_ranks.h"

namespace dist_host_collectives_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

namespace {

std::vector<std::string> collectives(int size, const std::function<void(HostCollectives&)>& body) {
  const auto post = std::make_shared<LocalPost>(size);
  std::vector<std::string> said(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      said[size_t(rank)] = outcome([&] {
        HostCollectives group(std::make_unique<LocalTransport>(post, rank), kPatient);
        body(group);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

}  // namespace

TEST(a_broadcast_reaches_everybody_from_any_root) {
  for (int size = 1; size <= 9; ++size) {
    expect_all(collectives(size, [&](HostCollectives& group) {
      for (int root = 0; root < size; ++root) {
        std::vector<float> sent = values(17, group.rank());
        group.broadcast(view(sent), root);
        EXPECT_TRUE(sent == values(17, root));
      }
      group.close();
    }), "ok");
  }
}

TEST(a_reduction_in_parts_has_every_element_once) {
  for (int size : {2, 3, 7}) {
    expect_all(collectives(size, [&](HostCollectives& group) {
      for (int64_t n : {4097, 8190, 10'000}) {  // 16 KiB are 4096 elements
        std::vector<float> sum = values(n, group.rank());
        group.all_reduce(view(sum), ReduceOp::kSum);
        EXPECT_TRUE(sum == reduced(ReduceOp::kSum, size, n));
      }
    }), "ok");
  }
}

TEST(gathering_in_place_is_allowed) {
  expect_all(collectives(3, [](HostCollectives& group) {
    std::vector<float> all(6), mine = values(2, group.rank());
    std::copy(mine.begin(), mine.end(), all.begin() + 2 * group.rank());
    group.all_gather(f32(all.data() + 2 * group.rank(), {2}), view(all));
    for (int rank : {0, 1, 2}) EXPECT_EQ(all[size_t(2 * rank + 1)], values(2, rank)[1]);
  }), "ok");
}

TEST(labels_differ_by_order_call_count_dtype_operation_and_root) {
  const auto differ = [](const std::function<void(HostCollectives&, bool other)>& call) {
    const auto said = collectives(2, [&](HostCollectives& group) { call(group, group.rank() == 1); });
    for (const std::string& text : said) EXPECT_TRUE(has(text, "All ranks must call the same in the same order."));
    return said[0];
  };
  std::vector<std::vector<float>> x(2, std::vector<float>(4));
  const auto of = [&](bool other, int64_t n) { return f32(x[other].data(), {n}); };
  differ([&](auto& group, bool other) { group.all_reduce(of(other, other ? 3 : 4), ReduceOp::kSum); });
  differ([&](auto& group, bool other) { group.all_reduce(of(other, 4), other ? ReduceOp::kMax : ReduceOp::kSum); });
  differ([&](auto& group, bool other) { group.broadcast(of(other, 4), other); });
  differ([&](auto& group, bool other) {
    other ? group.broadcast(of(other, 4), 0) : group.all_reduce(of(other, 4), ReduceOp::kSum);
  });
  const std::string said = differ([&](auto& group, bool other) {
    TensorView view = of(other, 4);
    if (other) view.dtype = DType::kI32;
    group.all_reduce(of(other, 4), ReduceOp::kSum);
    group.all_reduce(view, ReduceOp::kMax);
  });
  EXPECT_EQ(said, std::string("COLLECTIVE all_reduce: rank 0 calls all_reduce max of f32[4] as collective 2, rank 1 calls "
                              "all_reduce max of i32[4] as collective 2. All ranks must call the same in the same order."));
}

}  // namespace dist_host_collectives_test
