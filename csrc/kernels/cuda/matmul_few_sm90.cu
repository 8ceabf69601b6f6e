// Launches the Hopper kernel for products of few rows, with the epilogue for each op that follows.
#include "kernels/cuda/matmul_few_epilogues.cuh"

namespace hone::kernels::cuda {
void multiply_few_sm90(const Stream& stream, const Product& p, bool wide) {
  launch_few(stream, p, ceil_div(p.columns, kFewColumns), RowsOfY{p.out, p.columns, wide});
}

void multiply_gated_sm90(const Stream& stream, const Product& p, const LinearSwigluArgs& a) {
  const int64_t width = a.y.dim(1), tiles = ceil_div(width, kFewColumns / 2);
  bf16* const halves = a.keep ? a.gate_up.as<bf16>() : nullptr;
  const bool wide = width % 8 == 0 && is_wide(a.gate_up) && is_wide(a.y);
  if (a.gelu) {
    launch_few(stream, p, tiles, GatedRows<Gelu>{halves, a.y.as<bf16>(), a.gate_up.row_stride, a.y.row_stride, width, wide});
  } else {
    launch_few(stream, p, tiles, GatedRows<Silu>{halves, a.y.as<bf16>(), a.gate_up.row_stride, a.y.row_stride, width, wide});
  }
}

bool places_heads_sm90(const PrepareHeadsArgs& a) {
  const int64_t dim = a.qk.dim(2);
  const bool side_by_side = a.v.as<bf16>() == a.qk.as<bf16>() + a.qk.dim(1) * dim && a.v.row_stride == a.qk.row_stride;
  return side_by_side && dim >= 16 && kFewColumns % dim == 0 && a.table.dim(1) == dim && !a.interleaved && is_wide(a.table);
}

void multiply_heads_sm90(const Stream& stream, const Product& p, const PrepareHeadsArgs& a) {
  launch_few(stream, p, ceil_div(p.columns, kFewColumns), PlacedHeads{heads_of(a), p.out.bias, p.columns});
}

}  // namespace hone::kernels::cuda
