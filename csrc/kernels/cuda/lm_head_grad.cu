// Pass 2 of the output head, one chunk of rows at a time: recomputes logits, then their gradient dz in bf16,
// then dh and dw. dh, a sum over the vocabulary, uses the head's own tiles; dw is computed like any weight
// gradient.
#include <algorithm>

#include "kernels/cuda/divergence.h"
#include "kernels/cuda/lm_head.h"
#include "kernels/cuda/lm_head_memory.h"
#include "kernels/cuda/lm_head_pass.cuh"
#include "kernels/cuda/lm_head_row.cuh"
#include "kernels/cuda/lm_head_slopes.cuh"
#include "kernels/matmul.h"

namespace hone::kernels::cuda {
namespace {

// dz is rounded to bf16 anyway, so logits do not need the third part of w: 5e-5 in log p
// (docs/explanation/numerics.md).
constexpr int kGradientParts = 2;

struct GradientEpilogue {
  HeadSlopes slopes;
  __nv_bfloat16* dz;
  int64_t pitch;
  int vocabulary;

  __device__ __forceinline__ void row(int row, int first, const float4& z) const {
    if (first >= pitch) return;
    const RowSlopes own = slopes.row(row);
    float y[4], d[4];
    temper(z, slopes.inverse_temperature, y);
    // columns beyond the vocabulary become 0
#pragma unroll
    for (int i = 0; i < 4; ++i) d[i] = first + i < vocabulary ? own.of(first + i, y[i]) : 0.0f;
    store_bf16(dz + row * pitch + first, d);
  }
};

/// Stores logits for kernels that need whole rows of them.
struct LogitsEpilogue {
  float* out;
  int64_t pitch;  // floats between rows of `out`, a multiple of 4

  __device__ __forceinline__ void row(int row, int first, const float4& z) const {
    if (first < pitch) *reinterpret_cast<float4*>(out + row * pitch + first) = z;
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

/// Rows [first, first + count) of the gradient, and their dz, whose rows are `pitch` apart.
struct GradientRows {
  int64_t first;
  int count;
  __nv_bfloat16* dz;
  int64_t pitch;
};

HeadSlopes slopes_of(const LmHeadGradArgs& a, int64_t first) {
  return {a.lse.as<float>() + first,
          a.entropies.as<float>() + first,
          a.a.as<float>() + first,
          a.b.empty() ? nullptr : a.b.as<float>() + first,
          a.targets.as<int32_t>() + first,
          1.0f / a.temperature};
}

HeadRows head_rows(const TensorView& h, const GradientRows& r) {
  return {h.row<const __nv_bfloat16>(r.first), h.row_stride, r.count};
}

/// Computes dz of rows with a teacher. Their logits are stored in full, since a row's divergence depends on
/// all of them.
template <class Weight>
void taught_dz(const Stream& stream, const LmHeadGradArgs& a, const GradientRows& r) {
  const Divergence& t = *a.teacher;
  const HeadScratch scratch(t.scratch);
  const HeadWeight w = head_weight(a.w);
  const int64_t chunk = std::min<int64_t>(kTaughtRows, r.count);
  float* const z = scratch.arena.take_array<float>(chunk * r.pitch);
  float* const q = t.k() > 0 ? nullptr : scratch.arena.take_array<float>(chunk * r.pitch);
  for (int64_t at = 0; at < r.count; at += kTaughtRows) {
    const GradientRows some{r.first + at, int(std::min(kTaughtRows, r.count - at)), r.dz + at * r.pitch, r.pitch};
    head_pass<Weight, 128, Weight::kParts>(stream, w, head_rows(a.h, some), LogitsEpilogue{z, r.pitch});
    if (q) {
      // only rows of the student's vocabulary
      const HeadWeight theirs{t.head.panels, t.head.k, w.outputs, int(t.head.k)};
      head_pass<WeightF32, 128, WeightF32::kParts>(stream, theirs, head_rows(t.hidden, some), LogitsEpilogue{q, r.pitch});
    }
    taught_gradient(stream, {z, q, q ? nullptr : t.ids.row<int32_t>(some.first), q ? nullptr : t.logprobs.row<float>(some.first), int(t.k()),
                             t.rest, t.beta, slopes_of(a, some.first), a.slopes.as<float>() + some.first,
                             a.divergences.as<float>() + some.first, some.dz, r.pitch, some.count, w.outputs});
  }
}

/// Computes dz and dh of the rows.
template <class Weight, class Transposed>
void rows_gradient(const Stream& stream, const LmHeadGradArgs& a, const GradientRows& r) {
  constexpr int kParts = Weight::kParts < kGradientParts ? Weight::kParts : kGradientParts;
  const HeadWeight w = head_weight(a.w), w_t{w.data, w.pitch, w.depth, w.outputs};
  const GradientEpilogue epilogue{slopes_of(a, r.first), r.dz, r.pitch, w.outputs};
  if (a.teacher) taught_dz<Weight>(stream, a, r);
  else head_pass<Weight, 128, kParts>(stream, w, head_rows(a.h, r), epilogue);
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

/// Computes the gradient, in chunks. One launch has at most kHeadChunk rows: more would not save reads of
/// weights, and blocks of other streams wait for its end.
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
