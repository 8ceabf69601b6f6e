// SwiGLU on a GPU, elementwise over rows; the backward recomputes the sigmoid.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/swiglu.cuh"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct Gates {
  const bf16* gate_up;
  int64_t stride, width, pieces, items;  // pieces: vectors per row of y
  bool wide;
};

template <class Gate>
__global__ void __launch_bounds__(kThreads) swiglu_kernel(Gates a, bf16* y, int64_t y_stride) {
  const int64_t item = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= a.items) return;
  const int64_t r = item / a.pieces, c = item % a.pieces * 8, left = a.width - c;
  const bf16* gate = a.gate_up + r * a.stride + c;
  Eight g = load_eight(gate, left, a.wide);
  const Eight u = load_eight(gate + a.width, left, a.wide);
#pragma unroll
  for (int i = 0; i < 8; ++i) g.at[i] = gated<Gate>(g.at[i], u.at[i]);
  store_eight(y + r * y_stride + c, g, left, a.wide);
}

template <class Gate>
__global__ void __launch_bounds__(kThreads)
    swiglu_grad_kernel(Gates a, const bf16* dy, int64_t dy_stride, bf16* dgate_up, int64_t dgate_stride) {
  const int64_t item = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= a.items) return;
  const int64_t r = item / a.pieces, c = item % a.pieces * 8, left = a.width - c;
  const bf16* gate = a.gate_up + r * a.stride + c;
  Eight g = load_eight(gate, left, a.wide), u = load_eight(gate + a.width, left, a.wide);
  const Eight d = load_eight(dy + r * dy_stride + c, left, a.wide);
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const float s = sigmoid(Gate::bent(g.at[i])), slope = s * fmaf(Gate::stretched(g.at[i]), 1.0f - s, 1.0f);
    const float dup = d.at[i] * (g.at[i] * s);
    g.at[i] = d.at[i] * u.at[i] * slope;
    u.at[i] = dup;
  }
  bf16* dgate = dgate_up + r * dgate_stride + c;
  store_eight(dgate, g, left, a.wide);
  store_eight(dgate + a.width, u, left, a.wide);
}

/// Gates of 8 outputs and what they multiply, which alternate in memory: the four pairs of each vector.
struct Alternating {
  Eight low, high;

  __device__ __forceinline__ Alternating(const Gates& a, int64_t row, int64_t column) {
    const bf16* const from = a.gate_up + row * a.stride + 2 * column;
    const int64_t left = 2 * (a.width - column);
    low = load_eight(from, left, a.wide), high = load_eight(from + 8, left - 8, a.wide);
  }
  __device__ __forceinline__ LimitedPair pair(int i, float limit) const {
    const Eight& of = i < 4 ? low : high;
    return {of.at[i % 4 * 2], of.at[i % 4 * 2 + 1], limit};
  }
};

__global__ void __launch_bounds__(kThreads) limited_swiglu_kernel(Gates a, float limit, bf16* y, int64_t y_stride) {
  const int64_t item = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= a.items) return;
  const int64_t r = item / a.pieces, c = item % a.pieces * 8;
  const Alternating pairs(a, r, c);
  Eight out;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const LimitedPair p = pairs.pair(i, limit);
    out.at[i] = p.gate * p.opened() * p.raised();
  }
  store_eight(y + r * y_stride + c, out, a.width - c, a.wide);
}

__global__ void __launch_bounds__(kThreads) limited_swiglu_grad_kernel(Gates a, float limit, const bf16* dy, int64_t dy_stride,
                                                                       bf16* dgate_up, int64_t dgate_stride) {
  const int64_t item = int64_t(blockIdx.x) * kThreads + threadIdx.x;
  if (item >= a.items) return;
  const int64_t r = item / a.pieces, c = item % a.pieces * 8, left = a.width - c;
  const Alternating pairs(a, r, c);
  const Eight d = load_eight(dy + r * dy_stride + c, left, a.wide);
  Eight low, high;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    const LimitedPair p = pairs.pair(i, limit);
    const float s = p.opened(), slope = s * fmaf(p.gate * LimitedPair::kSlope, 1.0f - s, 1.0f);
    Eight& of = i < 4 ? low : high;
    of.at[i % 4 * 2] = p.gate_within ? d.at[i] * p.raised() * slope : 0.0f;
    of.at[i % 4 * 2 + 1] = p.up_within ? d.at[i] * (p.gate * s) : 0.0f;
  }
  bf16* const to = dgate_up + r * dgate_stride + 2 * c;
  store_eight(to, low, 2 * left, a.wide);
  store_eight(to + 8, high, 2 * left - 8, a.wide);
}

Gates gates(const TensorView& gate_up, const TensorView& y, bool wide) {
  const int64_t width = y.dim(1), pieces = (width + 7) / 8;
  return {gate_up.as<const bf16>(), gate_up.row_stride, width, pieces, y.dim(0) * pieces,
          wide && width % 8 == 0 && is_wide(gate_up) && is_wide(y)};
}

}  // namespace

void swiglu(const Stream& stream, const SwigluArgs& args) {
  const Gates a = gates(args.gate_up, args.y, true);
  bf16* const y = args.y.as<bf16>();
  if (args.limit > 0.0f) {
    HONE_LAUNCH(limited_swiglu_kernel, blocks_for(a.items, kThreads), kThreads, 0, stream, a, args.limit, y, args.y.row_stride);
  } else if (args.gelu) {
    HONE_LAUNCH(swiglu_kernel<Gelu>, blocks_for(a.items, kThreads), kThreads, 0, stream, a, y, args.y.row_stride);
  } else {
    HONE_LAUNCH(swiglu_kernel<Silu>, blocks_for(a.items, kThreads), kThreads, 0, stream, a, y, args.y.row_stride);
  }
}

void swiglu_grad(const Stream& stream, const SwigluGradArgs& args) {
  const Gates a = gates(args.gate_up, args.dy, is_wide(args.dgate_up));
  const bf16* const dy = args.dy.as<bf16>();
  bf16* const dgate = args.dgate_up.as<bf16>();
  const unsigned blocks = blocks_for(a.items, kThreads);
  const int64_t dy_stride = args.dy.row_stride, dgate_stride = args.dgate_up.row_stride;
  if (args.limit > 0.0f) {
    HONE_LAUNCH(limited_swiglu_grad_kernel, blocks, kThreads, 0, stream, a, args.limit, dy, dy_stride, dgate, dgate_stride);
  } else if (args.gelu) {
    HONE_LAUNCH(swiglu_grad_kernel<Gelu>, blocks, kThreads, 0, stream, a, dy, dy_stride, dgate, dgate_stride);
  } else {
    HONE_LAUNCH(swiglu_grad_kernel<Silu>, blocks, kThreads, 0, stream, a, dy, dy_stride, dgate, dgate_stride);
  }
}

}  // namespace hone::kernels::cuda
