#include "kernels/gather.h"

#include "kernels/cpu/gather.h"
#include "kernels/cuda/gather.h"

namespace hone::kernels {
namespace {

void expect_element(const TensorView& view, const char* op) {
  if (const int64_t bytes = dtype_bytes(view.dtype); bytes != 2 && bytes != 4) {
    fail(Code::kShape, "%s: rows of %s; elements of 2 or 4 bytes are moved.", op, dtype_name(view.dtype));
  }
}

}  // namespace

void gather_rows(const Stream& stream, const GatherRowsArgs& args) {
  constexpr const char* op = "gather_rows";
  const int64_t R = args.rows.dim(0), T = args.from.dim(0), C = args.from.dim(1);
  expect_element(args.from, op);
  expect_contiguous(args.rows, DType::kI32, {R}, op, "rows");
  expect(args.from, args.from.dtype, {T, C}, op, "from");
  expect(args.to, args.from.dtype, {R, C}, op, "to");
  if (R == 0 || C == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::gather_rows(stream, args);
  }
  cpu::gather_rows(stream, args);
}

void scatter_rows(const Stream& stream, const ScatterRowsArgs& args) {
  constexpr const char* op = "scatter_rows";
  const int64_t R = args.rows.dim(0), T = args.to.dim(0), C = args.to.dim(1);
  expect_element(args.from, op);
  expect_contiguous(args.rows, DType::kI32, {R}, op, "rows");
  expect(args.from, args.to.dtype, {R, C}, op, "from");
  expect_contiguous(args.to, args.to.dtype, {T, C}, op, "to");
  if (T == 0 || C == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::scatter_rows(stream, args);
  }
  cpu::scatter_rows(stream, args);
}

}  // namespace hone::kernels
