#include "core/device_query.h"

#include <dlfcn.h>

namespace hone {

#ifndef HONE_HAVE_CUDA
CudaInfo query_cuda() {
  CudaInfo info;
  info.reason = "built without CUDA (no nvcc at build time, or HONE_CUDA=OFF)";
  return info;
}
#endif

NcclInfo query_nccl() {
  NcclInfo info;
  void* library = dlopen("libnccl.so.2", RTLD_LAZY | RTLD_LOCAL);
  if (!library) {
    info.reason = "libnccl.so.2 is not on the library path";
    return info;
  }
  using GetVersion = int (*)(int*);
  const auto get_version = reinterpret_cast<GetVersion>(dlsym(library, "ncclGetVersion"));
  int code = 0;
  if (!get_version || get_version(&code) != 0) {
    info.reason = "libnccl.so.2 has no usable ncclGetVersion";
  } else {
    // 2.9 and later: major * 10000 + minor * 100 + patch.
    info.version = std::to_string(code / 10000) + "." + std::to_string(code / 100 % 100) + "." + std::to_string(code % 100);
  }
  dlclose(library);
  return info;
}

}  // namespace hone
