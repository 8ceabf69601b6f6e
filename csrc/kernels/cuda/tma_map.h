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

/// A bf16 or f32 matrix [height, width] in device memory, rows `stride` elements apart; or several such matrices,
/// `distance` elements apart.
template <class T>
struct MappedMatrix {
  const T* data;
  int64_t height, width, stride;
  int64_t matrices = 0, distance = 0;  // 0 matrices: the map of a single one, for copy_box
};

/// Map of a matrix, or of several (for copy_box_of), in boxes of 128 bytes of a row (64 or 32 elements, swizzled) by
/// `box_rows` rows; elements beyond a matrix read as zeros. Rows and matrices are 16-byte aligned, box_rows <= 256.
/// Throws kCuda, naming the matrix, if the driver refuses it.
template <class T>
CUtensorMap tensor_map(const MappedMatrix<T>& of, uint32_t box_rows, const char* name) {
  static_assert(std::is_same_v<T, __nv_bfloat16> || std::is_same_v<T, float>);
  constexpr bool kF32 = std::is_same_v<T, float>;
  // the driver refuses a map that is not 64-byte aligned, and GCC may place a temporary at such an address
  CUtensorMap made;
  const cuuint64_t shape[3] = {cuuint64_t(of.width), cuuint64_t(of.height), cuuint64_t(of.matrices)};
  const cuuint64_t strides[2] = {cuuint64_t(of.stride) * sizeof(T), cuuint64_t(of.distance) * sizeof(T)};
  const cuuint32_t box[3] = {128 / sizeof(T), box_rows, 1}, steps[3] = {1, 1, 1};
  const CUresult result = tensor_map_encoder()(
      &made, kF32 ? CU_TENSOR_MAP_DATA_TYPE_FLOAT32 : CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, of.matrices > 0 ? 3 : 2,
      const_cast<T*>(of.data), shape, strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
      CU_TENSOR_MAP_L2_PROMOTION_L2_256B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result != CUDA_SUCCESS) {
    fail(Code::kCuda, "cuTensorMapEncodeTiled: error %d for %s [%lld, %lld], stride %lld.", int(result), name,
         (long long)of.height, (long long)of.width, (long long)of.stride);
  }
  const CUtensorMap map = made;
  return map;
}

template <class T>
CUtensorMap tensor_map(const T* data, int64_t height, int64_t width, int64_t stride, uint32_t box_rows, const char* name) {
  return tensor_map(MappedMatrix<T>{data, height, width, stride}, box_rows, name);
}

}  // namespace hone::kernels::cuda
