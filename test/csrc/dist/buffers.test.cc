// Which buffers a collective refuses, and the error messages.
#include "dist/buffers.h"

#include "outcomes.h"

namespace dist_buffers_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

TEST(a_buffer_lies_in_one_piece_of_memory) {
  std::vector<float> a(6);
  TensorView strided(a.data(), DType::kF32, {3, 2});
  expect_buffer("send", strided);
  strided.row_stride = 3;
  EXPECT_EQ(outcome([&] { expect_buffer("send", strided); }), std::string("SHAPE send: the rows of a buffer must lie side by side."));
  EXPECT_EQ(outcome([] { expect_buffer("send", f32(static_cast<float*>(nullptr), {4})); }),
            std::string("SHAPE send: a buffer of 4 elements has no memory."));
  expect_buffer("send", f32(static_cast<float*>(nullptr), {0}));
}

TEST(a_root_is_one_of_the_ranks) {
  expect_root("broadcast", 0, 2);
  expect_root("broadcast", 1, 2);
  EXPECT_EQ(outcome([] { expect_root("broadcast", 2, 2); }), std::string("SHAPE broadcast: root 2 of 2 ranks."));
  EXPECT_THROWS(expect_root("broadcast", -1, 2), Code::kShape);
}

TEST(teams_have_all_ranks_and_as_many_each) {
  for (const int team : {1, 2, 3, 6}) expect_team("exchange", team, 6);
  for (const int team : {-2, 0, 4, 12}) EXPECT_THROWS(expect_team("exchange", team, 6), Code::kShape);
  EXPECT_EQ(outcome([] { expect_team("exchange", 4, 6); }), std::string("SHAPE exchange: 6 ranks are not teams of 4."));
}

TEST(parts_are_equal_and_one_a_rank) {
  std::vector<float> a(6), b(3), c(4);
  std::vector<int32_t> ints(3);
  expect_parts("all_gather", view(a), view(b), 2);
  expect_exchange("all_to_all", view(a), view(a), 3);
  EXPECT_EQ(outcome([&] { expect_parts("all_gather", view(a), view(c), 2); }),
            std::string("SHAPE all_gather: f32[6] and f32[4] do not fit together over 2 ranks."));
  EXPECT_THROWS(expect_parts("all_gather", view(a), i32(ints.data(), {3}), 2), Code::kShape);
  EXPECT_EQ(outcome([&] { expect_exchange("all_to_all", view(a), view(a), 4); }),
            std::string("SHAPE all_to_all: f32[6] and f32[6] are not 4 parts each."));
  EXPECT_THROWS(expect_exchange("all_to_all", view(a), view(c), 2), Code::kShape);
}

}  // namespace dist_buffers_test
