// Gathers and scatters rows on a GPU, copying bytes unchanged: 16 bytes at a time if rows allow it, otherwise
// one element at a time.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/early.cuh"
#include "kernels/cuda/gather.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// Arguments for elements of type T; strides count elements.
template <class T>
struct Moves {
  const T* from;
  int64_t from_stride;
  const int32_t* rows;
  int64_t count;  // number of rows
  T* to;
  int64_t to_stride, width, items;
};

template <class T>
__global__ void __launch_bounds__(kThreads) gather_kernel(Moves<T> a) {
  await_predecessor();
  const Item item(a.width);
  if (item.index >= a.items) return;
  const int64_t r = item.row, c = item.piece;
  a.to[r * a.to_stride + c] = a.from[a.rows[r] * a.from_stride + c];
}

/// Index of `row` in the ascending list; -1 if it is not there.
__device__ int64_t find_row(const int32_t* rows, int64_t count, int64_t row) {
  int64_t low = 0, high = count;
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (rows[middle] < row) low = middle + 1;
    else high = middle;
  }
  return low < count && rows[low] == row ? low : -1;
}

template <class T>
__global__ void __launch_bounds__(kThreads) scatter_kernel(Moves<T> a) {
  const Item item(a.width);
  if (item.index >= a.items) return;
  const int64_t t = item.row, c = item.piece, r = find_row(a.rows, a.count, t);
  T value{};
  if (r >= 0) value = a.from[r * a.from_stride + c];
  a.to[t * a.to_stride + c] = value;
}

template <class T>
Moves<T> moves(const TensorView& from, const TensorView& rows, const TensorView& to) {
  const int64_t per = int64_t(sizeof(T)) / dtype_bytes(from.dtype), width = to.dim(1) / per;
  return {from.as<const T>(), from.row_stride / per, rows.as<const int32_t>(), rows.dim(0),
          to.as<T>(),         to.row_stride / per,   width,                    to.dim(0) * width};
}

/// Calls f with a value of the widest type of which rows of both views are multiples.
template <class F>
void by_element(const TensorView& from, const TensorView& to, F f) {
  if (is_wide(from) && is_wide(to) && to.dim(1) * dtype_bytes(to.dtype) % 16 == 0) f(uint4{});
  else if (dtype_bytes(to.dtype) == 4) f(uint32_t{});
  else f(uint16_t{});
}

}  // namespace

void gather_rows(const Stream& stream, const GatherRowsArgs& args) {
  by_element(args.from, args.to, [&](auto element) {
    using T = decltype(element);
    const Moves<T> a = moves<T>(args.from, args.rows, args.to);
    HONE_LAUNCH_EARLY(gather_kernel<T>, blocks_for(a.items, kThreads), kThreads, 0, stream, a);
  });
}

void scatter_rows(const Stream& stream, const ScatterRowsArgs& args) {
  by_element(args.from, args.to, [&](auto element) {
    using T = decltype(element);
    const Moves<T> a = moves<T>(args.from, args.rows, args.to);
    HONE_LAUNCH(scatter_kernel<T>, blocks_for(a.items, kThreads), kThreads, 0, stream, a);
  });
}

}  // namespace hone::kernels::cuda
