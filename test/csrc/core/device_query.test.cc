#include "core/device_query.h"

#include <cstdio>

#include "check.h"
#include "core/stream.h"

namespace core_device_query_test {

using namespace hone;

TEST(cuda_is_there_or_the_reason_why_not_is) {
  const CudaInfo info = query_cuda();
  EXPECT_EQ(info.compiled.empty(), !kHasCuda);
  EXPECT_EQ(info.devices.empty(), !info.reason.empty());
  EXPECT_EQ(info.devices.empty(), info.memory_bytes == 0);
  if (!info.devices.empty()) {
    char said[32];
    std::snprintf(said, sizeof said, ", %.1f GiB)", double(info.memory_bytes) / double(1u << 30));
    EXPECT_TRUE(info.devices.front().ends_with(said));
  }
  for (const std::string& device : info.devices) EXPECT_TRUE(device.find("sm_") != std::string::npos);
}

}  // namespace core_device_query_test
