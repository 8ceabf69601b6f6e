#include <cuda_runtime.h>

#include <cstdio>

#include "core/device_query.h"

namespace hone {
namespace {

std::string version_text(int code) { return std::to_string(code / 1000) + "." + std::to_string(code % 1000 / 10); }

}  // namespace

CudaInfo query_cuda() {
  CudaInfo info;
  info.compiled = version_text(CUDART_VERSION);
  int driver = 0, count = 0;
  if (cudaDriverGetVersion(&driver) == cudaSuccess && driver > 0) info.driver = version_text(driver);
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess) {
    // The runtime reports a missing driver as one that is too old.
    info.reason = status == cudaErrorInsufficientDriver
                      ? "no NVIDIA driver, or one too old for CUDA " + std::to_string(CUDART_VERSION / 1000)
                      : cudaGetErrorString(status);
    cudaGetLastError();
    return info;
  }
  for (int i = 0; i < count; ++i) {
    cudaDeviceProp device;
    if (cudaGetDeviceProperties(&device, i) != cudaSuccess) continue;
    if (info.devices.empty()) info.memory_bytes = device.totalGlobalMem;
    char text[320];
    std::snprintf(text, sizeof text, "%s (sm_%d%d, %.1f GiB)", device.name, device.major, device.minor,
                  double(device.totalGlobalMem) / double(1u << 30));
    info.devices.push_back(text);
  }
  if (info.devices.empty()) info.reason = "the driver reports no device";
  return info;
}

}  // namespace hone
