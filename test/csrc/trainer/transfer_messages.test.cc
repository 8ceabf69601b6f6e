// What both sides of a transfer compute alike: the plan by which they know each other, and the buckets.
#include "trainer/transfer_messages.h"

#include <string>
#include <vector>

#include "check.h"
#include "dist/local_ranks.h"
#include "model/reference.h"

namespace trainer_transfer_messages_test {
namespace {

using namespace hone;
using namespace hone::test;
using kernels::Arithmetic;

TEST(a_plan_is_of_one_model_and_one_packing) {
  model::ModelConfig model = test::tiny_config();
  const std::string plan = trainer::transfer_plan(Stream{}, model, DType::kF32, Arithmetic::kF32);
  EXPECT_EQ(plan, trainer::transfer_plan(Stream{}, model, DType::kF32, Arithmetic::kF32));
  EXPECT_EQ(plan.size(), 64u);
  EXPECT_TRUE(plan != trainer::transfer_plan(Stream{}, model, DType::kBF16, Arithmetic::kF32));
  EXPECT_TRUE(plan != trainer::transfer_plan(Stream{}, model, DType::kF32, Arithmetic::kBF16));
  model.mlp_width += 8;
  EXPECT_TRUE(plan != trainer::transfer_plan(Stream{}, model, DType::kF32, Arithmetic::kF32));
}

TEST(a_field_takes_what_fits_and_nothing_more) {
  char field[5] = {};
  trainer::write_field("abc", field, sizeof(field));
  EXPECT_EQ(std::string(field), std::string("abc"));
  EXPECT_THROWS(trainer::write_field("abcdef", field, sizeof(field)), Code::kInternal);
}

TEST(buckets_cover_every_byte_once_in_order) {
  std::vector<uint8_t> bytes(25);
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = uint8_t(i);
  std::vector<uint8_t> seen;
  std::vector<int64_t> sizes;
  trainer::each_bucket({u8(bytes.data(), {12}), u8(bytes.data() + 12, {13})}, 5, [&](const TensorView& bucket, int number) {
    EXPECT_EQ(size_t(number), sizes.size());
    sizes.push_back(bucket.numel());
    seen.insert(seen.end(), bucket.as<uint8_t>(), bucket.as<uint8_t>() + bucket.numel());
  });
  EXPECT_TRUE(seen == bytes && sizes == std::vector<int64_t>({5, 5, 2, 5, 5, 3}));
}

TEST(who_lacks_the_base_accepts) {
  EXPECT_TRUE(trainer::refusals({trainer::kAccepted, trainer::kOldVersion, trainer::kNeedsBase, trainer::kDamaged}) == std::vector<int>({1, 3}));
}

TEST(all_ranks_hear_the_announcement_the_answers_and_a_bucket_with_its_checksum) {
  expect_all(local_ranks(3, milliseconds(60'000), {}, [&](dist::Communicator& group, int rank) {
    trainer::Announcement what;
    if (rank == 0) what.version = 7;
    trainer::announce(group, what);
    EXPECT_EQ(what.version, 7u);
    EXPECT_TRUE(trainer::answers(group, trainer::Answer(rank)) == std::vector<uint8_t>({0, 1, 2}));
    std::vector<uint8_t> bytes(9, rank == 0 ? 3 : 0);
    const TensorView bucket = u8(bytes.data(), {9});
    uint32_t sum = rank == 0 ? trainer::checksum(bucket) : 0;
    trainer::exchange(group, bucket, sum);
    EXPECT_TRUE(bytes == std::vector<uint8_t>(9, 3) && sum == trainer::checksum(bucket));
  }), "ok");
}

}  // namespace
}  // namespace trainer_transfer_messages_test
