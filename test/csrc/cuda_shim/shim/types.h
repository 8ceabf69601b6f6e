// Vector types, and the keywords of CUDA C++ that a host compiler lacks.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

// correct because one block runs at a time; static_shared.cc tells __shared__ variables from other statics
#define __shared__ static
#define __global__
#define __device__
#define __host__
#define __constant__ static
#define __forceinline__ inline
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __grid_constant__

#define HONE_SHIM_VECTOR(type, name, alignment)                                                              \
  struct name##1 { type x; };                                                                                \
  struct alignas(2 * sizeof(type)) name##2 { type x, y; };                                                   \
  struct name##3 { type x, y, z; };                                                                          \
  struct alignas(alignment) name##4 { type x, y, z, w; };                                                    \
  inline name##2 make_##name##2(type x, type y) { return {x, y}; }                                           \
  inline name##3 make_##name##3(type x, type y, type z) { return {x, y, z}; }                                \
  inline name##4 make_##name##4(type x, type y, type z, type w) { return {x, y, z, w}; }
HONE_SHIM_VECTOR(char, char, 4)
HONE_SHIM_VECTOR(unsigned char, uchar, 4)
HONE_SHIM_VECTOR(short, short, 8)
HONE_SHIM_VECTOR(unsigned short, ushort, 8)
HONE_SHIM_VECTOR(int, int, 16)
HONE_SHIM_VECTOR(unsigned, uint, 16)
HONE_SHIM_VECTOR(float, float, 16)
HONE_SHIM_VECTOR(long long, longlong, 16)
HONE_SHIM_VECTOR(unsigned long long, ulonglong, 16)
HONE_SHIM_VECTOR(double, double, 16)
#undef HONE_SHIM_VECTOR

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

inline uint3 threadIdx, blockIdx;
inline dim3 blockDim, gridDim;
inline constexpr int warpSize = 32;
