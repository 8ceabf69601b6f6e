// Host version of csrc/kernels/cuda/async.cuh: copied bytes arrive only at the wait; until then the
// destination holds NaN.
#pragma once

#include <cuda_runtime.h>

namespace hone::kernels::cuda {

inline void cp_async16(void* shared, const void* global, bool valid = true) {
  cuda_shim::async_copy16(shared, global, valid);
}
inline void cp_async_commit() { cuda_shim::async_commit(); }
template <int N>
void cp_async_wait() {
  cuda_shim::async_wait(N);
}

}  // namespace hone::kernels::cuda
