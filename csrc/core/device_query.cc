#include "core/device_query.h"

namespace hone {

#ifndef HONE_HAVE_CUDA
CudaInfo query_cuda() {
  CudaInfo info;
  info.reason = "built without CUDA (no nvcc at build time, or HONE_CUDA=OFF)";
  return info;
}
#endif

}  // namespace hone
