// Pass 2 of the head, a chunk of rows at a time: logits again, their gradient in bf16, and its two products. dh, a sum
// over the vocabulary, uses the head's own tiles with their promotion; dw is computed like any weight gradient.
#include <algorithm>

#include "kernels/cuda/lm_head.h"
#include "kernels/cuda/lm_head_memory.h"
#include "kernels/cuda/lm_head_pass.cuh"
#include "kernels/cuda/lm_head_row.cuh"
#include "kernels/matmul.h"

namespace hone::kernels::cuda {
namespace {

// Their gradient is rounded to bf16 anyway, so the logits do not need the third part: 5e-5 in log p (docs/explanation/numerics.md).
constexpr int kGradientParts = 2;

__device__ __forceinline__ void store_bf16(__nv_bfloat16* to, const float (&x)[4]) {
  *reinterpret_cast<uint2*>(to) = make_uint2(pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]));
}

struct GradientEpilogue {
  const float *lse, *entropies, *a, *b;  // b may be null
  const int32_t* targets;
  __nv_bfloat16* dz;
  int64_t pitch;
  float inverse_temperature;
  int vocabulary;

  __device__ __forceinline__ void row(int row, int first, const float4& z) const {
    if (first >= pitch) return;
    const float up = a[row] * inverse_temperature, bonus = b ? -b[row] * inverse_temperature : 0.0f;
    float y[4], d[4];
    temper(z, inverse_temperature, y);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const float log_p = y[i] - lse[row];
      const float factor = bonus != 0.0f ? fmaf(bonus, log_p + entropies[row], -up) : -up;
      d[i] = fmaf(expf(log_p), factor, first + i == targets[row] ? up : 0.0f);
      if (first + i >= vocabulary) d[i] = 0.0f;  // the padding at the end of the row
    }
    store_bf16(dz + row * pitch + first, d);
  }
};

struct StoreEpilogue {
  __nv_bfloat16* out;
  int64_t pitch;
  int columns;  // a multiple of 8

  __device__ __forceinline__ void row(int row, int first, const float4& x) const {
    const float four[4] = {x.x, x.y, x.z, x.w};
    if (first < columns) store_bf16(out + row * pitch + first, four);
  }
};

/// Rows [first, first + count) and their dz, rows `pitch` apart.
struct GradientRows {
  int64_t first;
  int count;
  __nv_bfloat16* dz;
  int64_t pitch;
};

/// dz and dh.
template <class Weight, class Transposed>
void rows_gradient(const Stream& stream, const LmHeadGradArgs& a, const GradientRows& r) {
  constexpr int kParts = Weight::kParts < kGradientParts ? Weight::kParts : kGradientParts;
  const HeadWeight w = head_weight(a.w), w_t{w.data, w.pitch, w.depth, w.outputs};
  const HeadRows h{a.h.row<const __nv_bfloat16>(r.first), a.h.row_stride, r.count};
  const GradientEpilogue epilogue{a.lse.as<float>() + r.first,
                                  a.entropies.as<float>() + r.first,
                                  a.a.as<float>() + r.first,
                                  a.b.empty() ? nullptr : a.b.as<float>() + r.first,
                                  a.targets.as<int32_t>() + r.first,
                                  r.dz,
                                  r.pitch,
                                  1.0f / a.temperature,
                                  w.outputs};
  head_pass<Weight, 128, kParts>(stream, w, h, epilogue);
  const StoreEpilogue store{a.dh.row<__nv_bfloat16>(r.first), a.dh.row_stride, w.depth};
  head_pass<Transposed, 128, 1>(stream, w_t, {r.dz, r.pitch, r.count}, store);
}

void add_weight_gradient(const Stream& stream, const LmHeadGradArgs& a, const GradientRows& r) {
  TensorView dz(r.dz, DType::kBF16, {r.count, a.w.n}), inputs = a.h;
  dz.row_stride = r.pitch;
  inputs.data = a.h.row<__nv_bfloat16>(r.first);
  inputs.shape[0] = r.count;
  linear_grad_weight(stream, {dz, inputs, a.dw, {}});
}

/// However long a chunk is, a pass has at most kHeadChunk rows: more would share weights no better, and another stream's
/// blocks wait for its end.
template <class Weight, class Transposed>
void gradient(const Stream& stream, const LmHeadGradArgs& a) {
  const int64_t rows = a.h.dim(0), chunk = std::min(rows, a.chunk), pitch = logit_pitch(a.w.n);
  const HeadScratch scratch(a.scratch);
  __nv_bfloat16* const dz = scratch.arena.take_array<__nv_bfloat16>(chunk * pitch);
  for (int64_t first = 0; first < rows; first += chunk) {
    const int64_t count = std::min(chunk, rows - first);
    for (int64_t at = 0; at < count; at += kHeadChunk) {
      rows_gradient<Weight, Transposed>(stream, a, {first + at, int(std::min(kHeadChunk, count - at)), dz + at * pitch, pitch});
    }
    if (!a.dw.empty()) add_weight_gradient(stream, a, {first, int(count), dz, pitch});
  }
}

}  // namespace

void lm_head_grad(const Stream& stream, const LmHeadGradArgs& args) {
  if (args.w.storage == DType::kBF16) gradient<WeightBf16, WeightBf16Transposed>(stream, args);
  else gradient<WeightF32, WeightF32Transposed>(stream, args);
}

}  // namespace hone::kernels::cuda
