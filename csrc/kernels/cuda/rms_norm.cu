// RMSNorm on a GPU: a warp or a block handles a row. Only the width decides which, so that a row's bits
// depend only on the row.
#include <climits>

#include "core/cuda/launch.cuh"
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int64_t kWarpWidth = 1024;  // one warp handles a row of up to this width

/// Rows of a matrix; if its rows are heads side by side, row r is head r % heads of matrix row r / heads.
template <class T>
struct Rows {
  T* data;
  int64_t stride;
  int heads;
  int width;
  __device__ T* row(int64_t r) const {
    // 32 bits, since dividing 64-bit numbers is a function call
    const auto index = uint32_t(r), all = uint32_t(heads);
    return data + int64_t(index / all) * stride + int64_t(index % all) * width;
  }
};

template <class T>
Rows<T> rows_of(const TensorView& view, int64_t width) {
  return {view.as<T>(), view.row_stride, view.rank == 3 ? int(view.dim(1)) : 1, int(width)};
}

struct Norm {
  Rows<const bf16> x;
  const float* weight;
  Rows<bf16> y;
  int64_t rows;
  float eps, offset;
  bool wide;
};

struct NormGrad {
  Rows<const bf16> x, dy;
  const float* weight;
  Rows<bf16> dx;
  float* sums;  // [strips, width]
  int64_t rows;
  float eps, offset;
  bool accumulate, wide;
};

template <int Threads>
__device__ float sum_of_row(float value, float* scratch) {
  if constexpr (Threads == 32) return warp_sum(value);
  else return block_sum(value, scratch);
}

/// The row that this group of Threads threads (a warp or a block) handles.
template <int Threads>
__device__ int64_t row_index() { return int64_t(blockIdx.x) * (kThreads / Threads) + threadIdx.x / Threads; }

/// The mean of a row, or 0 for a norm that subtracts none.
template <int Threads, bool Centered>
__device__ float center_of_row(const bf16* x, int width, bool wide, float* scratch) {
  if constexpr (!Centered) return 0.0f;
  float total = 0.0f;
  for (int c = threadIdx.x % Threads * 8; c < width; c += Threads * 8) {
    const Eight v = load_eight(x + c, width - c, wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) total += v.at[i];
  }
  return sum_of_row<Threads>(total, scratch) / float(width);
}

/// Eight elements less their row's center; 0 beyond the row.
template <bool Centered>
__device__ Eight load_centered(const bf16* x, int left, bool wide, float center) {
  Eight v = load_eight(x, left, wide);
  if constexpr (Centered) {
#pragma unroll
    for (int i = 0; i < 8; ++i) v.at[i] = i < left ? v.at[i] - center : 0.0f;
  }
  return v;
}

template <int Threads, bool Centered>
__global__ void __launch_bounds__(kThreads) norm_kernel(Norm a) {
  __shared__ float scratch[32];
  await_predecessor();
  const int64_t r = row_index<Threads>();
  if (Threads == 32 && r >= a.rows) return;
  const int width = a.x.width, first = threadIdx.x % Threads * 8;
  const bf16* x = a.x.row(r);
  const float center = center_of_row<Threads, Centered>(x, width, a.wide, scratch);
  float squares = 0.0f;
  for (int c = first; c < width; c += Threads * 8) {
    const Eight v = load_centered<Centered>(x + c, width - c, a.wide, center);
#pragma unroll
    for (int i = 0; i < 8; ++i) squares = fmaf(v.at[i], v.at[i], squares);
  }
  const float scale = 1.0f / sqrtf(sum_of_row<Threads>(squares, scratch) / float(width) + a.eps);
  bf16* y = a.y.row(r);
  for (int c = first; c < width; c += Threads * 8) {
    Eight v = load_centered<Centered>(x + c, width - c, a.wide, center);
    const Eight w = load_eight(a.weight + c, width - c, a.wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) v.at[i] = v.at[i] * scale * (w.at[i] + a.offset);
    store_eight(y + c, v, width - c, a.wide);
  }
}

/// Writes dx of one row and adds its share of dweight to `own`; a thread touches only its own columns.
template <int Threads, bool Centered>
__device__ void norm_grad_row(const NormGrad& a, int64_t r, float* own, float* scratch) {
  const int width = a.x.width, first = threadIdx.x % Threads * 8;
  const bf16 *x = a.x.row(r), *dy = a.dy.row(r);
  bf16* dx = a.dx.row(r);
  const float center = center_of_row<Threads, Centered>(x, width, a.wide, scratch);
  float squares = 0.0f, dot = 0.0f, total = 0.0f;
  for (int c = first; c < width; c += Threads * 8) {
    const Eight v = load_centered<Centered>(x + c, width - c, a.wide, center), d = load_eight(dy + c, width - c, a.wide);
    const Eight w = load_eight(a.weight + c, width - c, a.wide);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      squares = fmaf(v.at[i], v.at[i], squares);
      dot = fmaf((w.at[i] + a.offset) * d.at[i], v.at[i], dot);
      if constexpr (Centered) total += (w.at[i] + a.offset) * d.at[i];
    }
  }
  const float inverse = 1.0f / sqrtf(sum_of_row<Threads>(squares, scratch) / float(width) + a.eps);
  const float pull = -inverse * inverse * inverse / float(width) * sum_of_row<Threads>(dot, scratch);
  if constexpr (Centered) total = inverse * sum_of_row<Threads>(total, scratch) / float(width);
  for (int c = first; c < width; c += Threads * 8) {
    const Eight v = load_centered<Centered>(x + c, width - c, a.wide, center), d = load_eight(dy + c, width - c, a.wide);
    const Eight w = load_eight(a.weight + c, width - c, a.wide);
    Eight g = a.accumulate ? load_eight(dx + c, width - c, a.wide) : Eight{};
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      if (c + i < width) own[c + i] = fmaf(d.at[i] * v.at[i], inverse, own[c + i]);
      g.at[i] += fmaf(v.at[i], pull, (w.at[i] + a.offset) * d.at[i] * inverse);
      if constexpr (Centered) g.at[i] -= total;
    }
    store_eight(dx + c, g, width - c, a.wide);
  }
}

/// Writes dx of one strip of rows, and their part of dweight, summed in ascending order.
template <int Threads, bool Centered>
__global__ void __launch_bounds__(kThreads) norm_grad_kernel(NormGrad a) {
  HONE_DYNAMIC_SHARED(float, sums);
  __shared__ float scratch[32];
  const int64_t strip = row_index<Threads>(), begin = strip * kNormStrip;
  if (Threads == 32 && begin >= a.rows) return;
  const int width = a.x.width, first = threadIdx.x % Threads * 8;
  float* own = sums + threadIdx.x / Threads * width;
  for (int c = first; c < width; c += Threads * 8) {
    for (int i = c; i < min(c + 8, width); ++i) own[i] = 0.0f;
  }
  for (int64_t r = begin; r < min(begin + kNormStrip, a.rows); ++r) norm_grad_row<Threads, Centered>(a, r, own, scratch);
  for (int c = first; c < width; c += Threads * 8) {
    for (int i = c; i < min(c + 8, width); ++i) a.sums[strip * width + i] = own[i];
  }
}

/// A block adds kNormFan rows of `sums` [count, width], 32 columns wide, in f64: warp i of 8 adds rows i, i +
/// 8, ... in order, then the 8 results are added in order. The result goes to the block's row of `partial`
/// or, if that is null (one block has all rows), is added to dweight.
template <class T, int kFan>
__global__ void __launch_bounds__(kThreads) add_strips_kernel(const T* sums, int64_t count, int width, double* partial,
                                                             float* dweight) {
  constexpr int kLanes = kThreads / 32;
  __shared__ double lanes[kLanes][32];
  const int lane = int(threadIdx.x) / 32, inner = int(threadIdx.x) % 32, c = int(blockIdx.x) * 32 + inner;
  const int64_t first = int64_t(blockIdx.y) * kFan;
  const int rows = int(min(count - first, int64_t(kFan)));
  double total = 0.0;
  if (c < width) {
    const T* const at = sums + first * width + c;
#pragma unroll 16
    for (int s = lane; s < rows; s += kLanes) total += double(at[int64_t(s) * width]);
  }
  lanes[lane][inner] = total;
  __syncthreads();
  if (lane != 0 || c >= width) return;
  for (int i = 1; i < kLanes; ++i) total += lanes[i][inner];
  if (partial) partial[int64_t(blockIdx.y) * width + c] = total;
  else dweight[c] += float(total);
}

/// dweight += sum of the strips' sums: each block adds kNormFan of them, then one block adds the blocks'
/// results.
void add_strips(const Stream& stream, const float* sums, int64_t strips, int width, double* partial, float* dweight) {
  const unsigned across = blocks_for(width, 32);
  const int64_t blocks = norm_fans(strips);
  if (blocks == 1) partial = nullptr;
  HONE_LAUNCH((add_strips_kernel<float, kNormFan>), dim3(across, unsigned(blocks)), dim3(kThreads), 0, stream, sums, strips, width,
              partial, dweight);
  if (blocks == 1) return;
  HONE_LAUNCH((add_strips_kernel<double, INT_MAX>), dim3(across), dim3(kThreads), 0, stream, partial, blocks, width,
              nullptr, dweight);
}

/// Number of rows of `args.x`. Throws kShape if there are more than a kernel can count.
template <class Args>
int64_t row_count(const Args& args, int64_t width) {
  const int64_t rows = args.x.numel() / width;
  if (rows > INT_MAX) fail(Code::kShape, "rms_norm: %lld rows; a GPU takes 2^31 - 1 at most.", (long long)rows);
  return rows;
}

bool wide_rows(const TensorView& view, int64_t width) { return is_wide(view) && (view.rank < 3 || width % 8 == 0); }

template <bool Centered>
void launch_norm(const Stream& stream, const Norm& a, int64_t width) {
  if (width <= kWarpWidth) {
    HONE_LAUNCH_EARLY((norm_kernel<32, Centered>), blocks_for(a.rows, kThreads / 32), kThreads, 0, stream, a);
  } else {
    HONE_LAUNCH_EARLY((norm_kernel<kThreads, Centered>), unsigned(a.rows), kThreads, 0, stream, a);
  }
}

template <bool Centered>
void launch_norm_grad(const Stream& stream, const NormGrad& a, int64_t width, int64_t strips) {
  if (width <= kWarpWidth) {
    const int groups = kThreads / 32;
    HONE_LAUNCH((norm_grad_kernel<32, Centered>), blocks_for(strips, groups), kThreads, size_t(groups * width) * sizeof(float), stream, a);
  } else {
    HONE_LAUNCH((norm_grad_kernel<kThreads, Centered>), unsigned(strips), kThreads, size_t(width) * sizeof(float), stream, a);
  }
}

}  // namespace

void rms_norm(const Stream& stream, const RmsNormArgs& args) {
  const int64_t width = args.weight.dim(0), rows = row_count(args, width);
  const bool wide = wide_rows(args.x, width) && wide_rows(args.y, width) && is_wide(args.weight);
  const Norm a{rows_of<const bf16>(args.x, width), args.weight.as<const float>(), rows_of<bf16>(args.y, width), rows,
               args.eps, args.offset, wide};
  args.centered ? launch_norm<true>(stream, a, width) : launch_norm<false>(stream, a, width);
}

void rms_norm_grad(const Stream& stream, const RmsNormGradArgs& args) {
  const int64_t width = args.weight.dim(0), rows = row_count(args, width), strips = ceil_div(rows, kNormStrip);
  const bool wide = wide_rows(args.x, width) && wide_rows(args.dy, width) && wide_rows(args.dx, width) &&
                    is_wide(args.weight);
  const int64_t mark = args.scratch->mark();
  float* const sums = args.scratch->take_array<float>(strips * width);
  double* const partial = norm_fans(strips) > 1 ? args.scratch->take_array<double>(norm_fans(strips) * width) : nullptr;
  const NormGrad a{rows_of<const bf16>(args.x, width), rows_of<const bf16>(args.dy, width),
                   args.weight.as<const float>(), rows_of<bf16>(args.dx, width), sums, rows, args.eps,
                   args.offset, args.accumulate, wide};
  args.centered ? launch_norm_grad<true>(stream, a, width, strips) : launch_norm_grad<false>(stream, a, width, strips);
  add_strips(stream, sums, strips, int(width), partial, args.dweight.as<float>());
  args.scratch->release(mark);
}

}  // namespace hone::kernels::cuda
