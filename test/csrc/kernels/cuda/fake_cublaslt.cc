// A stand-in for libcublasLt.so.13 that multiplies on the host, in the layouts that the calls describe. With
// FAKE_CUBLASLT_PARTIAL one symbol is missing.
#include "kernels/cuda/fake_cublaslt.h"

#include <cstddef>
#include <cstring>

#include "core/tensor.h"

namespace {

struct Description { int32_t turn[2] = {0, 0}; };
struct Layout {
  int type;
  uint64_t rows, columns;
  int64_t leading;
};
struct Preference {
  uint64_t workspace_bytes = 0;
  uint32_t reduction_mask = 7;
};
struct Algorithm { uint64_t data[8]; };
struct Heuristic {
  Algorithm algorithm;
  size_t workspace_bytes;
  int state;
  float waves;
  int reserved[4];
};

constexpr uint64_t kMark = 0x616c676f;
constexpr int kBf16 = 14, kInvalid = 7;

FakeCublasLt noted;

template <class T>
int make(void** out, T value) {
  *out = new T(value);
  ++noted.alive;
  return 0;
}
template <class T>
int destroy(void* handle) {
  delete static_cast<T*>(handle);
  --noted.alive;
  return 0;
}

[[maybe_unused]] double element(const void* data, const Layout& at, bool turned, int64_t row, int64_t column) {
  const int64_t index = turned ? column + row * at.leading : row + column * at.leading;
  return hone::bf16_to_f32(static_cast<const uint16_t*>(data)[index]);
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

FakeCublasLt* fake_cublaslt() { return &noted; }

EXPORT int cublasLtCreate(void** handle) { return *handle = &noted, noted.create_status; }
EXPORT int cublasLtDestroy(void*) { return 0; }
EXPORT size_t cublasLtGetVersion() { return 130101; }
EXPORT int cublasLtMatmulDescCreate(void** out, int compute, int scale) {
  return compute == 68 && scale == 0 ? make(out, Description{}) : kInvalid;
}
EXPORT int cublasLtMatmulDescSetAttribute(void* desc, int attribute, const void* value, size_t bytes) {
  if ((attribute != 3 && attribute != 4) || bytes != 4) return kInvalid;
  std::memcpy(&static_cast<Description*>(desc)->turn[attribute - 3], value, 4);
  return 0;
}
EXPORT int cublasLtMatmulDescDestroy(void* desc) { return destroy<Description>(desc); }
EXPORT int cublasLtMatrixLayoutCreate(void** out, int type, uint64_t rows, uint64_t columns, int64_t leading) {
  return leading >= int64_t(rows) ? make(out, Layout{type, rows, columns, leading}) : kInvalid;
}
EXPORT int cublasLtMatrixLayoutDestroy(void* layout) { return destroy<Layout>(layout); }
EXPORT int cublasLtMatmulPreferenceCreate(void** out) { return make(out, Preference{}); }
EXPORT int cublasLtMatmulPreferenceSetAttribute(void* preference, int attribute, const void* value, size_t bytes) {
  auto* const p = static_cast<Preference*>(preference);
  if (attribute == 1 && bytes == 8) return std::memcpy(&p->workspace_bytes, value, 8), 0;
  if (attribute == 3 && bytes == 4) return std::memcpy(&p->reduction_mask, value, 4), 0;
  return kInvalid;
}
EXPORT int cublasLtMatmulPreferenceDestroy(void* preference) { return destroy<Preference>(preference); }

EXPORT int cublasLtMatmulAlgoGetHeuristic(void*, void*, void*, void*, void*, void*, void* preference, int wanted,
                                          Heuristic* out, int* found) {
  ++noted.heuristics;
  noted.reduction_mask = static_cast<Preference*>(preference)->reduction_mask;
  noted.workspace_bytes = static_cast<Preference*>(preference)->workspace_bytes;
  *found = noted.algorithms_found < wanted ? noted.algorithms_found : wanted;
  if (*found) *out = {{{kMark}}, 0, 0, 1.0f, {}};
  return 0;
}

#ifndef FAKE_CUBLASLT_PARTIAL
EXPORT int cublasLtMatmul(void*, void* desc, const float* alpha, const void* a, void* a_layout, const void* b,
                          void* b_layout, const float* beta, const void* c, void*, void* d, void* d_layout,
                          const Algorithm* algorithm, void*, size_t workspace_bytes, void*) {
  const auto &description = *static_cast<Description*>(desc);
  const auto &la = *static_cast<Layout*>(a_layout), &lb = *static_cast<Layout*>(b_layout), &ld = *static_cast<Layout*>(d_layout);
  const uint64_t depth = description.turn[0] ? la.rows : la.columns;
  const bool fits = (description.turn[0] ? la.columns : la.rows) == ld.rows &&
                    (description.turn[1] ? lb.rows : lb.columns) == ld.columns &&
                    (description.turn[1] ? lb.columns : lb.rows) == depth && la.type == kBf16 && lb.type == kBf16;
  if (noted.matmul_status || !fits || c != d || *alpha != 1.0f || algorithm->data[0] != kMark ||
      workspace_bytes != noted.workspace_bytes) {
    return noted.matmul_status ? noted.matmul_status : kInvalid;
  }
  ++noted.products;
  for (int64_t j = 0; j < int64_t(ld.columns); ++j) {
    for (int64_t i = 0; i < int64_t(ld.rows); ++i) {
      const int64_t at = i + j * ld.leading;
      double sum = 0;
      for (int64_t k = 0; k < int64_t(depth); ++k) {
        sum += element(a, la, description.turn[0], i, k) * element(b, lb, description.turn[1], k, j);
      }
      if (*beta != 0.0f) {
        const double before = ld.type == kBf16 ? hone::bf16_to_f32(static_cast<uint16_t*>(d)[at]) : static_cast<float*>(d)[at];
        sum += *beta * before;
      }
      if (ld.type == kBf16) static_cast<uint16_t*>(d)[at] = hone::f32_to_bf16(float(sum));
      else static_cast<float*>(d)[at] = float(sum);
    }
  }
  return 0;
}
#endif
