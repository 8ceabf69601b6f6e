// Splits and joins columns on a GPU, copying bytes unchanged, all parts in one launch: 16 bytes at a time if
// the parts of groups allow it, otherwise one element at a time.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/columns.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

/// Arguments for pieces of type T; columns and strides count pieces. Unused groups have no columns and come
/// last.
template <class T>
struct Columns {
  T* whole;
  T* parts;
  int64_t whole_stride, part_stride, items;
  int width, part_width;
  // for each group: its first column, and its number of columns in a part
  int first[kMostColumnGroups], share[kMostColumnGroups];
};

/// Address of a piece in the whole matrix and in its part.
template <class T>
struct Place {
  T *whole, *part;
  __device__ __forceinline__ Place(const Columns<T>& a, int64_t row, int column) {
    // of the piece's group; before: columns of earlier groups in a part
    int first = 0, share = a.share[0], before = 0;
#pragma unroll
    for (int g = 1; g < kMostColumnGroups; ++g) {
      if (column < a.first[g]) continue;
      first = a.first[g], share = a.share[g], before += a.share[g - 1];
    }
    const int inside = column - first;
    whole = a.whole + row * a.whole_stride + column;
    part = a.parts + (inside / share) * a.part_stride + row * a.part_width + before + inside % share;
  }
};

template <class T>
__global__ void __launch_bounds__(kThreads) split_columns_kernel(Columns<T> a) {
  const Item item(a.width);
  if (item.index >= a.items) return;
  const Place<T> at(a, item.row, int(item.piece));
  *at.part = *at.whole;
}

template <class T>
__global__ void __launch_bounds__(kThreads) join_columns_kernel(Columns<T> a) {
  const Item item(a.width);
  if (item.index >= a.items) return;
  const Place<T> at(a, item.row, int(item.piece));
  *at.whole = *at.part;
}

template <class T>
Columns<T> columns(const ColumnPartsArgs& args) {
  const int64_t per = int64_t(sizeof(T)) / dtype_bytes(args.whole.dtype), P = args.parts.dim(0), width = args.whole.dim(1) / per;
  Columns<T> out{args.whole.as<T>(), args.parts.as<T>(), args.whole.row_stride / per, args.parts.row_stride / per,
                 args.whole.dim(0) * width, int(width), int(width / P), {}, {}};
  int64_t first = 0;
  for (size_t g = 0; g < size_t(kMostColumnGroups); ++g) {
    const int64_t group = g < args.widths.size() ? args.widths[g] / per : 0;
    out.first[g] = int(first), out.share[g] = int(group / P);
    first += group;
  }
  return out;
}

/// True if the columns of each group in a part are whole, aligned vectors.
bool in_vectors(const ColumnPartsArgs& args) {
  bool all = is_wide(args.whole) && is_wide(args.parts);
  for (const int64_t group : args.widths) all = all && group / args.parts.dim(0) * dtype_bytes(args.whole.dtype) % 16 == 0;
  return all;
}

/// Calls f with a value of the widest type of which the groups' columns in a part are multiples.
template <class F>
void by_piece(const ColumnPartsArgs& args, F f) {
  if (in_vectors(args)) f(uint4{});
  else if (dtype_bytes(args.whole.dtype) == 4) f(uint32_t{});
  else f(uint16_t{});
}

}  // namespace

void split_columns(const Stream& stream, const ColumnPartsArgs& args) {
  by_piece(args, [&](auto piece) {
    using T = decltype(piece);
    const Columns<T> a = columns<T>(args);
    HONE_LAUNCH(split_columns_kernel<T>, blocks_for(a.items, kThreads), kThreads, 0, stream, a);
  });
}

void join_columns(const Stream& stream, const ColumnPartsArgs& args) {
  by_piece(args, [&](auto piece) {
    using T = decltype(piece);
    const Columns<T> a = columns<T>(args);
    HONE_LAUNCH(join_columns_kernel<T>, blocks_for(a.items, kThreads), kThreads, 0, stream, a);
  });
}

}  // namespace hone::kernels::cuda
