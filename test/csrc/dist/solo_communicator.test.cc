// SoloCommunicator: in a group of one rank every collective returns its input.
#include "dist/solo_communicator.h"

#include <functional>

#include "check.h"

namespace dist_solo_communicator_test {
namespace {

using namespace hone;
using dist::ReduceOp;
using dist::SoloCommunicator;

TEST(every_collective_gives_back_what_it_was_given) {
  SoloCommunicator alone;
  EXPECT_TRUE(alone.rank() == 0 && alone.size() == 1);
  std::vector<float> x = test::random_floats(37), same = x;
  const TensorView view = f32(x.data(), {37});
  alone.broadcast(Stream{}, view, 0);
  alone.all_reduce(Stream{}, view, ReduceOp::kSum);
  EXPECT_TRUE(x == same);
  const std::function<void(const TensorView&)> calls[] = {
      [&](const TensorView& to) { alone.reduce_scatter(Stream{}, view, to, ReduceOp::kMax); },
      [&](const TensorView& to) { alone.all_gather(Stream{}, view, to); },
      [&](const TensorView& to) { alone.all_to_all(Stream{}, view, to); },
      [&](const TensorView& to) { alone.team_all_to_all(Stream{}, view, to, 1); }};
  EXPECT_THROWS(alone.team_all_to_all(Stream{}, view, view, 2), Code::kShape);
  for (const auto& call : calls) {
    std::vector<float> y = test::poison(37), small(36);
    call(f32(y.data(), {37}));
    alone.wait(Stream{});
    EXPECT_TRUE(y == same);
    call(view);  // also in place
    EXPECT_TRUE(x == same);
    EXPECT_THROWS(call(f32(small.data(), {36})), Code::kShape);
    EXPECT_THROWS(call(i32(reinterpret_cast<int32_t*>(y.data()), {37})), Code::kShape);
  }
}

}  // namespace

}  // namespace dist_solo_communicator_test
