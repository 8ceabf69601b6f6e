#include <cuda_runtime.h>

#include "core/error.h"
#include "dist/nccl_group.h"

namespace hone::dist {

// Polls, because cudaStreamSynchronize would block: a collective whose peer is lost never ends, and abort()
// would have to wait for it.
bool stream_idle(const Stream& stream) {
  if (!stream.is_cuda()) return true;
  const cudaError_t status = cudaStreamQuery(static_cast<cudaStream_t>(stream.handle));
  if (status == cudaSuccess) return true;
  cudaGetLastError();  // clears the error (also "not ready"), which the next launch would report
  if (status == cudaErrorNotReady) return false;
  fail(Code::kCuda, "wait: CUDA says: %s.", cudaGetErrorString(status));
}

}  // namespace hone::dist
