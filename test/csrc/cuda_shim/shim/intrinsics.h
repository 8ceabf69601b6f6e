// CUDA's device functions: barriers, warp exchange, atomics, bit and float operations.
#pragma once

#include <bit>
#include <cstring>

#include "shim/machine.h"

#define HONE_SHIM_SITE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(HONE_SHIM_SITE) { hone::cuda_shim::block_barrier(0, "__syncthreads", file, line); }
inline int __syncthreads_count(int predicate, HONE_SHIM_SITE) {
  return hone::cuda_shim::block_barrier(predicate, "__syncthreads_count", file, line);
}
inline int __syncthreads_or(int predicate, HONE_SHIM_SITE) {
  return hone::cuda_shim::block_barrier(predicate, "__syncthreads_or", file, line) > 0;
}
inline int __syncthreads_and(int predicate, HONE_SHIM_SITE) {
  return hone::cuda_shim::block_barrier(!predicate, "__syncthreads_and", file, line) == 0;
}
inline void __syncwarp(unsigned mask = 0xffffffffu, HONE_SHIM_SITE) {
  hone::cuda_shim::warp_collective(mask, [](void* const*, unsigned) {}, nullptr, "__syncwarp", file, line);
}

namespace hone::cuda_shim {

/// What one lane passes to, and gets from, an exchange of values of type T within a warp.
template <class T>
struct Exchange {
  T value;
  int from = 0;  // the lane whose value this lane wants
  T result{};
};

template <class T>
void exchange(void* const* lanes, unsigned mask) {
  for (int i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    auto* mine = static_cast<Exchange<T>*>(lanes[i]);
    if (!(mask >> mine->from & 1)) fault("shuffle: lane %d reads lane %d, which takes no part.", i, mine->from);
    mine->result = static_cast<Exchange<T>*>(lanes[mine->from])->value;
  }
}

template <class T>
T shuffle(unsigned mask, T value, int from, const char* what, const char* file, int line) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "shuffles move 4 or 8 bytes");
  Exchange<T> mine{value, from};
  warp_collective(mask, exchange<T>, &mine, what, file, line);
  return mine.result;
}

/// What one lane passes to, and gets from, a reduction over a warp.
template <class T>
struct Reduction {
  T value, result;
};

template <class T, class Combine>
void reduce(void* const* lanes, unsigned mask) {
  T total{};
  bool first = true;
  for (int i = 0; i < 32; ++i) {
    if (!(mask >> i & 1)) continue;
    const T value = static_cast<Reduction<T>*>(lanes[i])->value;
    total = first ? value : Combine{}(total, value);
    first = false;
  }
  for (int i = 0; i < 32; ++i) {
    if (mask >> i & 1) static_cast<Reduction<T>*>(lanes[i])->result = total;
  }
}

}  // namespace hone::cuda_shim

template <class T>
T __shfl_sync(unsigned mask, T v, int lane, int width = 32, HONE_SHIM_SITE) {
  const int me = hone::cuda_shim::lane_index();
  return hone::cuda_shim::shuffle(mask, v, me / width * width + (lane & (width - 1)), "__shfl_sync", file, line);
}
template <class T>
T __shfl_xor_sync(unsigned mask, T v, int lanes, int width = 32, HONE_SHIM_SITE) {
  const int me = hone::cuda_shim::lane_index(), from = me ^ lanes;
  const bool outside = from / width > me / width;
  return hone::cuda_shim::shuffle(mask, v, outside ? me : from, "__shfl_xor_sync", file, line);
}
template <class T>
T __shfl_up_sync(unsigned mask, T v, unsigned delta, int width = 32, HONE_SHIM_SITE) {
  const int me = hone::cuda_shim::lane_index(), from = me - int(delta);
  return hone::cuda_shim::shuffle(mask, v, from < me / width * width ? me : from, "__shfl_up_sync", file, line);
}
template <class T>
T __shfl_down_sync(unsigned mask, T v, unsigned delta, int width = 32, HONE_SHIM_SITE) {
  const int me = hone::cuda_shim::lane_index(), from = me + int(delta);
  const bool outside = from >= me / width * width + width;
  return hone::cuda_shim::shuffle(mask, v, outside ? me : from, "__shfl_down_sync", file, line);
}

#define HONE_SHIM_REDUCE(name, type, expression)                                                           \
  inline type name(unsigned mask, type value, HONE_SHIM_SITE) {                                            \
    hone::cuda_shim::Reduction<type> mine{value, {}};                                                      \
    using Combine = decltype([](type a, type b) -> type { return expression; });                            \
    hone::cuda_shim::warp_collective(mask, hone::cuda_shim::reduce<type, Combine>, &mine, #name, file, line); \
    return mine.result;                                                                                    \
  }
HONE_SHIM_REDUCE(__reduce_add_sync, unsigned, a + b)
HONE_SHIM_REDUCE(__reduce_add_sync, int, int(unsigned(a) + unsigned(b)))
HONE_SHIM_REDUCE(__reduce_max_sync, unsigned, a > b ? a : b)
HONE_SHIM_REDUCE(__reduce_max_sync, int, a > b ? a : b)
HONE_SHIM_REDUCE(__reduce_min_sync, unsigned, a < b ? a : b)
HONE_SHIM_REDUCE(__reduce_min_sync, int, a < b ? a : b)
HONE_SHIM_REDUCE(__reduce_or_sync, unsigned, a | b)
HONE_SHIM_REDUCE(__reduce_and_sync, unsigned, a & b)
HONE_SHIM_REDUCE(__reduce_xor_sync, unsigned, a ^ b)
#undef HONE_SHIM_REDUCE
inline unsigned __ballot_sync(unsigned mask, int predicate, HONE_SHIM_SITE) {
  return __reduce_or_sync(mask, predicate ? 1u << hone::cuda_shim::lane_index() : 0u, file, line);
}
inline int __any_sync(unsigned mask, int predicate, HONE_SHIM_SITE) {
  return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __all_sync(unsigned mask, int predicate, HONE_SHIM_SITE) {
  return __ballot_sync(mask, !predicate, file, line) == 0;
}

// Fibers run one at a time, so plain code is atomic. There is no atomic float sum, because its result would
// depend on the order.
#define HONE_SHIM_ATOMIC(name, type, expression) \
  inline type name(type* at, type value) {       \
    const type old = *at;                        \
    *at = expression;                            \
    return old;                                  \
  }
#define HONE_SHIM_ATOMICS(type)                            \
  HONE_SHIM_ATOMIC(atomicAdd, type, static_cast<type>(old + value))     \
  HONE_SHIM_ATOMIC(atomicMax, type, old > value ? old : value) \
  HONE_SHIM_ATOMIC(atomicMin, type, old < value ? old : value) \
  HONE_SHIM_ATOMIC(atomicExch, type, value)                \
  HONE_SHIM_ATOMIC(atomicOr, type, old | value)            \
  HONE_SHIM_ATOMIC(atomicAnd, type, old & value)           \
  inline type atomicCAS(type* at, type compare, type value) { \
    const type old = *at;                                  \
    if (old == compare) *at = value;                       \
    return old;                                            \
  }
HONE_SHIM_ATOMICS(int)
HONE_SHIM_ATOMICS(unsigned)
HONE_SHIM_ATOMICS(unsigned long long)
#undef HONE_SHIM_ATOMICS
#undef HONE_SHIM_ATOMIC
float atomicAdd(float*, float) = delete;
double atomicAdd(double*, double) = delete;

inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
[[noreturn]] inline void __trap() { hone::cuda_shim::fault("__trap"); }
template <class T>
T __ldg(const T* p) { return *p; }
template <class T>
T __ldcs(const T* p) { return *p; }
template <class T>
T __ldcg(const T* p) { return *p; }
template <class T>
void __stcs(T* p, T value) { *p = value; }
template <class T>
void __stcg(T* p, T value) { *p = value; }

using std::isfinite;
using std::isinf;
using std::isnan;

inline float __uint_as_float(unsigned x) { return std::bit_cast<float>(x); }
inline float __int_as_float(int x) { return std::bit_cast<float>(x); }
inline unsigned __float_as_uint(float x) { return std::bit_cast<unsigned>(x); }
inline int __float_as_int(float x) { return std::bit_cast<int>(x); }
inline long long __double_as_longlong(double x) { return std::bit_cast<long long>(x); }
inline double __longlong_as_double(long long x) { return std::bit_cast<double>(x); }
inline int __popc(unsigned x) { return std::popcount(x); }
inline int __popcll(unsigned long long x) { return std::popcount(x); }
inline int __clz(int x) { return std::countl_zero(unsigned(x)); }
inline int __clzll(long long x) { return std::countl_zero((unsigned long long)(x)); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline unsigned __brev(unsigned x) {
  unsigned out = 0;
  for (int i = 0; i < 32; ++i) out |= (x >> i & 1) << (31 - i);
  return out;
}
inline unsigned __umulhi(unsigned a, unsigned b) { return unsigned((uint64_t(a) * b) >> 32); }
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

inline float __fadd_rn(float a, float b) { return a + b; }
inline float __fsub_rn(float a, float b) { return a - b; }
inline float __fmul_rn(float a, float b) { return a * b; }
inline float __fdiv_rn(float a, float b) { return a / b; }
inline float __fsqrt_rn(float a) { return std::sqrt(a); }
inline float __frcp_rn(float a) { return 1.0f / a; }
inline float __fmaf_rn(float a, float b, float c) { return std::fmaf(a, b, c); }
inline float __fdividef(float a, float b) { return a / b; }
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __log2f(float x) { return std::log2(x); }
inline float __powf(float x, float y) { return std::pow(x, y); }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline double rsqrt(double x) { return 1.0 / std::sqrt(x); }
inline float __saturatef(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
inline int __float2int_rn(float x) { return int(std::nearbyint(x)); }
inline float __int2float_rn(int x) { return float(x); }

// CUDA's min and max are global functions, which convert arguments of different types by the usual rules.
template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  using T = std::common_type_t<A, B>;
  return T(a) < T(b) ? T(b) : T(a);
}
