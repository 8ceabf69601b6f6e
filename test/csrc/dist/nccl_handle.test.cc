// NcclHandle releases its communicator once, and reports NCCL's messages.
#include "dist/nccl_handle.h"

#include "ranks.h"

namespace dist_nccl_handle_test {

using namespace hone;
using namespace hone::test;

namespace {

struct Alone {
  explicit Alone(const Faults& faults) { fake().reset(faults); }
  std::shared_ptr<const NcclLibrary> library = NcclLibrary::open(HONE_FAKE_NCCL);

  NcclResult create(NcclHandle& handle) {
    NcclResult result = handle.create(NcclCommunicator::make_id(*library), 0, 1);
    while (result == kNcclInProgress) result = handle.poll();
    return result;
  }
};

}  // namespace

TEST(a_handle_that_is_dropped_or_aborted_twice_is_aborted_once) {
  Alone alone({});
  {
    NcclHandle handle(alone.library);
    EXPECT_EQ(alone.create(handle), kNcclSuccess);
    EXPECT_TRUE(handle.get() != nullptr);
    EXPECT_EQ(fake().live(), 1);
  }
  EXPECT_EQ(fake().aborts(), 1);
  {
    NcclHandle handle(alone.library);
    EXPECT_EQ(alone.create(handle), kNcclSuccess);
    handle.abort();
    EXPECT_TRUE(handle.get() == nullptr);
    handle.abort();
  }
  EXPECT_EQ(fake().aborts(), 2);
  EXPECT_EQ(fake().live() + fake().misuses(), 0);
}

TEST(a_handle_that_was_destroyed_is_not_aborted) {
  Alone alone({.finalize_polls = 3});
  {
    NcclHandle handle(alone.library);
    EXPECT_EQ(alone.create(handle), kNcclSuccess);
    NcclResult result = handle.finalize();
    EXPECT_EQ(result, kNcclInProgress);
    while (result == kNcclInProgress) result = handle.poll();
    EXPECT_EQ(result, kNcclSuccess);
    EXPECT_EQ(handle.destroy(), kNcclSuccess);
    EXPECT_TRUE(handle.get() == nullptr);
  }
  EXPECT_EQ(fake().aborts() + fake().live() + fake().misuses(), 0);
}

TEST(an_empty_handle_holds_nothing_and_explains_without_a_last_message) {
  Alone alone({});
  {
    NcclHandle handle(alone.library);
    EXPECT_EQ(handle.explain(kNcclSystemError), std::string("NCCL says: system error"));
    EXPECT_EQ(alone.create(handle), kNcclSuccess);
    EXPECT_EQ(handle.explain(kNcclSystemError), std::string("NCCL says: system error (remote log)"));
  }
  NcclHandle never(alone.library);
  EXPECT_EQ(fake().aborts(), 1);
}

}  // namespace dist_nccl_handle_test
