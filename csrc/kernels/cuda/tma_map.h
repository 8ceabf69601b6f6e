// Makes TMA maps, which describe a matrix in device memory to the copy engine (sm_90).
#pragma once

#include <cuda.h>
#include <cuda_bf16.h>

#include <type_traits>

#include "core/cuda/check.h"

namespace hone::kernels::cuda {

/// Finds the CUDA driver's own encoder at run time, so that nothing links libcuda. Throws kUnsupported if the
/// driver has none.
inline decltype(&cuTensorMapEncodeTiled) tensor_map_encoder() {
  static const auto found = [] {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const cudaError_t status =
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault, &result);
#else
    const cudaError_t status = cudaGetDriverEntryPoint("cuTensorMapEncodeTiled", &function, cudaEnableDefault, &result);
#endif
    ::hone::cuda::check(status, "cuTensorMapEncodeTiled");
    if (result != cudaDriverEntryPointSuccess || !function) {
      fail(Code::kUnsupported, "The driver has no cuTensorMapEncodeTiled; set HONE_CUDA_PORTABLE=1 or update it.");
    }
    return reinterpret_cast<decltype(&cuTensorMapEncodeTiled)>(function);
  }();
  return found;
}

/// Map of a bf16 or f32 matrix [height, width], rows `stride` elements apart, in boxes of 128 bytes of a row
/// (64 or 32 elements, swizzled) by `box_rows` rows; elements beyond it read as zeros. Rows are 16-byte
/// aligned, box_rows <= 256. Throws kCuda, naming the matrix, if the driver refuses it.
template <class T>
CUtensorMap tensor_map(const T* data, int64_t height, int64_t width, int64_t stride, uint32_t box_rows,
                       const char* name) {
  static_assert(std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, float>);
  constexpr bool kF32 = std::is_same_v<T, float>;
  // the driver refuses a map that is not 64-byte aligned, and GCC may place a temporary at such an address
  CUtensorMap made;
  const cuuint64_t shape[2] = {cuuint64_t(width), cuuint64_t(height)}, strides[1] = {cuuint64_t(stride) * sizeof(T)};
  const cuuint32_t box[2] = {128 / sizeof(T), box_rows}, steps[2] = {1, 1};
  const CUresult result = tensor_map_encoder()(
      &made, kF32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, const_cast<T*>(data), shape,
      strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B, CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
      CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fail(Code::kCuda, "cuTensorMapEncodeTiled: error %d for %s [%lld, %lld], stride %lld.", int(result), name,
         (long long)height, (long long)width, (long long)stride);
  }
  const CUtensorMap map = made;
  return map;
}

}  // namespace hone::kernels::cuda
