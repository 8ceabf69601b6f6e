#include "kernels/columns.h"

#include "kernels/cpu/columns.h"
#include "kernels/cuda/columns.h"

namespace hone::kernels {
namespace {

/// Checks the arguments; returns false if the matrix is empty.
bool checked(const ColumnPartsArgs& args, const char* op) {
  const int64_t R = args.whole.dim(0), W = args.whole.dim(1), P = args.parts.dim(0);
  if (const int64_t bytes = dtype_bytes(args.whole.dtype); bytes != 2 && bytes != 4) {
    fail(Code::kShape, "%s: columns of %s; elements of 2 or 4 bytes are moved.", op, dtype_name(args.whole.dtype));
  }
  if (P < 1 || args.widths.empty() || args.widths.size() > size_t(kMostColumnGroups)) {
    fail(Code::kShape, "%s: %zu groups of columns for %lld parts.", op, args.widths.size(), (long long)P);
  }
  int64_t sum = 0;
  for (const int64_t width : args.widths) {
    sum += width;
    if (width < P || width % P != 0) fail(Code::kShape, "%s: a group of %lld columns for %lld parts.", op, (long long)width, (long long)P);
  }
  if (sum != W) fail(Code::kShape, "%s: groups of %lld columns of %lld.", op, (long long)sum, (long long)W);
  expect(args.whole, args.whole.dtype, {R, W}, op, "whole");
  expect(args.parts, args.whole.dtype, {P, R * (W / P)}, op, "parts");
  return R > 0;
}

}  // namespace

void split_columns(const Stream& stream, const ColumnPartsArgs& args) {
  if (!checked(args, "split_columns")) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::split_columns(stream, args);
  }
  cpu::split_columns(stream, args);
}

void join_columns(const Stream& stream, const ColumnPartsArgs& args) {
  if (!checked(args, "join_columns")) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::join_columns(stream, args);
  }
  cpu::join_columns(stream, args);
}

}  // namespace hone::kernels
