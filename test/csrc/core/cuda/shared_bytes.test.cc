// What a launch may use without asking: 48 KiB, static and dynamic shared memory together.
#include "core/cuda/shared_bytes.h"

#include "check.h"

namespace core_cuda_shared_bytes_test {

using namespace hone::cuda;

TEST(static_and_dynamic_bytes_are_added_up) {
  EXPECT_TRUE(!exceeds_plain_shared(0, 49152) && exceeds_plain_shared(0, 49153));
  // The sums of RMSNorm's backward beside 32 values of block_sum: widths 12256 and 12264.
  EXPECT_TRUE(!exceeds_plain_shared(128, 12256 * 4) && exceeds_plain_shared(128, 12264 * 4));
}

}  // namespace core_cuda_shared_bytes_test
