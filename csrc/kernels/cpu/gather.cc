#include "kernels/cpu/gather.h"

#include <cstddef>
#include <cstring>

namespace hone::kernels::cpu {
namespace {

std::byte* row_at(const TensorView& view, int64_t row) {
  return view.as<std::byte>() + row * view.row_stride * dtype_bytes(view.dtype);
}

int64_t row_bytes(const TensorView& view) { return view.dim(1) * dtype_bytes(view.dtype); }

}  // namespace

void gather_rows(const Stream&, const GatherRowsArgs& args) {
  const int32_t* const rows = args.rows.as<int32_t>();
  const auto bytes = size_t(row_bytes(args.to));
  for (int64_t r = 0; r < args.rows.dim(0); ++r) std::memcpy(row_at(args.to, r), row_at(args.from, rows[r]), bytes);
}

void scatter_rows(const Stream&, const ScatterRowsArgs& args) {
  const int32_t* const rows = args.rows.as<int32_t>();
  const int64_t bytes = row_bytes(args.to);
  int64_t next = 0;
  for (int64_t r = 0; r < args.rows.dim(0); ++r) {
    std::memset(row_at(args.to, next), 0, size_t((rows[r] - next) * bytes));
    std::memcpy(row_at(args.to, rows[r]), row_at(args.from, r), size_t(bytes));
    next = rows[r] + 1;
  }
  std::memset(row_at(args.to, next), 0, size_t((args.to.dim(0) - next) * bytes));
}

}  // namespace hone::kernels::cpu
