#include "core/device_query.h"

#include "check.h"
#include "core/stream.h"

using namespace hone;

TEST(cuda_is_there_or_the_reason_why_not_is) {
  const CudaInfo info = query_cuda();
  EXPECT_EQ(info.compiled.empty(), !kHasCuda);
  EXPECT_EQ(info.devices.empty(), !info.reason.empty());
  for (const std::string& device : info.devices) EXPECT_TRUE(device.find("sm_") != std::string::npos);
}

TEST_MAIN
