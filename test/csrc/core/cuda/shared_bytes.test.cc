// How much shared memory a launch may use without opting in to more: 48 KiB, static and dynamic together.
#include "core/cuda/shared_bytes.h"

#include "check.h"

namespace core_cuda_shared_bytes_test {

using namespace hone::cuda;

TEST(static_and_dynamic_bytes_are_added_up) {
  EXPECT_TRUE(!exceeds_plain_shared(0, 49152) && exceeds_plain_shared(0, 49153));
  // The sums of RMSNorm's backward, besides the 32 values of block_sum, at widths 12256 and 12264.
  EXPECT_TRUE(!exceeds_plain_shared(128, 12256 * 4) && exceeds_plain_shared(128, 12264 * 4));
}

}  // namespace core_cuda_shared_bytes_test
