// Devices other than the CPU that this process could use: queried at run time, never required.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hone {

/// The CUDA version that was compiled in and the GPUs that were found. `reason` is one sentence that explains
/// why `devices` is empty.
struct CudaInfo {
  std::string compiled;              // toolkit version, "13.0"; empty: built without CUDA
  std::string driver;                // newest CUDA version the driver supports; empty: no driver
  std::vector<std::string> devices;  // "NVIDIA H200 (sm_90, 139.8 GiB)"
  uint64_t memory_bytes = 0;         // of the first device, which is the one used; 0: none
  std::string reason;
};
/// Queries the CUDA driver. Never throws; the first call takes up to a few milliseconds.
CudaInfo query_cuda();

}  // namespace hone
