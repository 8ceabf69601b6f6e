// Muon on a GPU. Newton-Schulz keeps X in f32 and rounds it to bf16 for products: X <- a X + P X with P = b G
// + c G^2. For a wide X, G = X X^T is multiplied from the left; for a tall X, G = X^T X is multiplied from
// the right, so that nothing is transposed.
#include <algorithm>
#include <cmath>

#include "core/cuda/launch.cuh"
#include "core/device.h"
#include "kernels/cuda/optimizer.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/vector.cuh"
#include "kernels/matmul.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// n values, of which each block processes one strip; all arrays are 16-byte aligned if `wide`.
struct Matrix {
  float *param, *buffer, *x;
  const float *grad, *scale;
  double* sums;  // [strips], or null
  SecondCopy packed;
  int64_t n;
  float grad_scale, momentum, decay, step_size;
  bool wide;
};

/// buffer <- momentum buffer + g; x = g + momentum buffer; sums: sums of squares of x. If the scale is NaN, x
/// becomes NaN and the buffer is unchanged.
__global__ void __launch_bounds__(kThreads) momentum_kernel(Matrix a) {
  __shared__ double scratch[32];
  const float scale = a.scale ? *a.scale : 1.0f, factor = a.grad_scale * scale;
  const int64_t begin = blockIdx.x * kOptimizerStrip, end = min(begin + kOptimizerStrip, a.n);
  double sum = 0.0;
  for (int64_t i = begin + threadIdx.x * 8; i < end; i += kThreads * 8) {
    Eight x = load_eight(a.grad + i, end - i, a.wide), buffer = load_eight(a.buffer + i, end - i, a.wide);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float g = x.at[k] * factor;
      buffer.at[k] = g + buffer.at[k] * a.momentum;
      x.at[k] = buffer.at[k] * a.momentum + g;
      sum += double(x.at[k]) * double(x.at[k]);
    }
    if (!isnan(scale)) store_eight(a.buffer + i, buffer, end - i, a.wide);
    store_eight(a.x + i, x, end - i, a.wide);
  }
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) a.sums[blockIdx.x] = sum;
}

/// v = x, divided by the root of `squares` if that is not null; rounded = v in bf16; x = a v.
__global__ void __launch_bounds__(kThreads) split_kernel(float* x, int64_t n, const double* squares, bf16* rounded) {
  const int64_t i = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * 8;
  if (i >= n) return;
  const float factor = squares ? float(1.0 / (sqrt(*squares) + kMuonNormFloor)) : 1.0f;
  Eight v = load_eight(x + i, n - i, true);
#pragma unroll
  for (int k = 0; k < 8; ++k) v.at[k] *= factor;
  store_eight(rounded + i, v, n - i, true);
#pragma unroll
  for (int k = 0; k < 8; ++k) v.at[k] *= kNewtonSchulzA;
  store_eight(x + i, v, n - i, true);
}

/// poly = b gram + c square.
__global__ void __launch_bounds__(kThreads) poly_kernel(const float* gram, const float* square, int64_t n, bf16* poly) {
  const int64_t i = (int64_t(blockIdx.x) * kThreads + threadIdx.x) * 8;
  if (i >= n) return;
  Eight g = load_eight(gram + i, n - i, true);
  const Eight s = load_eight(square + i, n - i, true);
#pragma unroll
  for (int k = 0; k < 8; ++k) g.at[k] = g.at[k] * kNewtonSchulzB + s.at[k] * kNewtonSchulzC;
  store_eight(poly + i, g, n - i, true);
}

/// param <- decay param - step_size x, unless the scale is NaN; sums: sums of squared changes.
__global__ void __launch_bounds__(kThreads) apply_kernel(Matrix a) {
  __shared__ double scratch[32];
  const bool skipped = a.scale && isnan(*a.scale);
  const int64_t begin = blockIdx.x * kOptimizerStrip, end = skipped ? begin : min(begin + kOptimizerStrip, a.n);
  double sum = 0.0;
  for (int64_t i = begin + threadIdx.x * 8; i < end; i += kThreads * 8) {
    const Eight x = load_eight(a.x + i, end - i, true);
    Eight p = load_eight(a.param + i, end - i, a.wide);
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const float old = p.at[k];
      p.at[k] = old * a.decay - x.at[k] * a.step_size;
      sum += double(p.at[k] - old) * double(p.at[k] - old);
    }
    store_eight(a.param + i, p, end - i, a.wide);
    a.packed.store(i, p, end - i, a.wide);
  }
  if (!a.sums) return;
  sum = block_sum(sum, scratch);
  if (threadIdx.x == 0) a.sums[blockIdx.x] = sum;
}

/// The matrices of the Newton-Schulz iteration, in scratch.
struct NewtonSchulz {
  int64_t rows, columns, side;
  float *x, *gram, *square;        // [R, C], [side, side] twice
  bf16 *x_rounded, *gram_rounded, *poly;
  Arena* scratch;

  NewtonSchulz(Arena& arena, int64_t r, int64_t c)
      : rows(r), columns(c), side(std::min(r, c)), x(arena.take_array<float>(r * c)),
        gram(arena.take_array<float>(side * side)), square(arena.take_array<float>(side * side)),
        x_rounded(arena.take_array<bf16>(r * c)), gram_rounded(arena.take_array<bf16>(side * side)),
        poly(arena.take_array<bf16>(side * side)), scratch(&arena) {}

  /// Runs one iteration. `squares`: sum of squares of x, by whose root x is first divided; or null.
  void step(const Stream& stream, const double* squares) const {
    const bool tall = rows > columns;
    const int64_t area = side * side;
    const TensorView left{x_rounded, DType::kBF16, {rows, columns}}, g = f32(gram, {side, side});
    HONE_LAUNCH(split_kernel, blocks_for(rows * columns, 8 * kThreads), kThreads, 0, stream, x, rows * columns, squares, x_rounded);
    if (tall) {
      zero(stream, gram, area * int64_t(sizeof(float)));
      kernels::linear_grad_weight(stream, {.dy = left, .x = left, .dw = g, .dbias = {}});
    } else {
      multiply(stream, left, {rows, columns, DType::kBF16, x_rounded}, g);
    }
    const PackedMatrix packed{side, side, DType::kBF16, gram_rounded};
    kernels::pack_matrix(stream, {.w = g, .transpose = false, .out = packed});
    multiply(stream, {gram_rounded, DType::kBF16, {side, side}}, packed, f32(square, {side, side}));
    HONE_LAUNCH(poly_kernel, blocks_for(area, 8 * kThreads), kThreads, 0, stream, gram, square, area, poly);
    const TensorView out = f32(x, {rows, columns});
    if (tall) multiply(stream, left, {side, side, DType::kBF16, poly}, out, true);
    else multiply(stream, {poly, DType::kBF16, {side, side}}, {columns, rows, DType::kBF16, x_rounded, true}, out, true);
  }

  void multiply(const Stream& stream, const TensorView& left, const PackedMatrix& w, const TensorView& y,
                bool accumulate = false) const {
    kernels::linear(stream, {.x = left, .w = w, .bias = {}, .y = y, .accumulate = accumulate, .scratch = scratch});
  }
};

}  // namespace

void muon(const Stream& stream, const MuonArgs& args) {
  if (!args.scratch) fail(Code::kInternal, "muon: no scratch.");
  const int64_t rows = args.param.dim(0), columns = args.param.dim(1), n = rows * columns, mark = args.scratch->mark();
  const bool measured = !args.squared_change.empty();
  const NewtonSchulz iteration(*args.scratch, rows, columns);
  double* const sums = args.scratch->take_array<double>(optimizer_strips(n));
  const TensorView squares(args.scratch->take_array<double>(1), DType::kF64, {1});
  const double gain = std::sqrt(std::max(1.0, double(rows) / double(columns)));
  Matrix a{};
  a.packed = SecondCopy::of(args.packed);
  a.param = args.param.as<float>();
  a.buffer = args.momentum_buffer.as<float>();
  a.x = iteration.x;
  a.grad = args.grad.as<const float>();
  a.scale = args.scale.as<const float>();
  a.sums = sums;
  a.n = n;
  a.grad_scale = args.grad_scale;
  a.momentum = args.momentum;
  a.decay = float(1.0 - double(args.lr) * args.weight_decay);
  a.step_size = float(args.lr * gain);
  a.wide = is_wide(args.param) && is_wide(args.momentum_buffer) && is_wide(args.grad) && is_wide(args.packed);
  HONE_LAUNCH(momentum_kernel, unsigned(optimizer_strips(n)), kThreads, 0, stream, a);
  add_strips(stream, sums, n, squares);
  for (int i = 0; i < kNewtonSchulzSteps; ++i) iteration.step(stream, i == 0 ? squares.as<const double>() : nullptr);
  a.sums = measured ? sums : nullptr;
  HONE_LAUNCH(apply_kernel, unsigned(optimizer_strips(n)), kThreads, 0, stream, a);
  if (measured) add_strips(stream, sums, n, args.squared_change);
  args.scratch->release(mark);
}

}  // namespace hone::kernels::cuda
