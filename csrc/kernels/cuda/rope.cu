// Rotary embedding on a GPU: each thread rotates up to eight pairs of one head (dimensions i and i + N/2, or
// neighbours).
#include "core/cuda/launch.cuh"
#include "kernels/cuda/rows.h"
#include "kernels/cuda/vector.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

struct Rotation {
  bf16* x;
  int64_t x_stride;
  const int32_t* positions;
  const float* table;
  int64_t table_stride, items;
  int heads, dim, half, pieces;  // half: number of rotated pairs per head; pieces: vectors of pairs per head
  float sign;
  bool wide, interleaved;
};

__device__ __forceinline__ void turn(float& low, float& high, float cosine, float sine) {
  const float from = low;
  low = from * cosine - high * sine;
  high = high * cosine + from * sine;
}

__global__ void __launch_bounds__(kThreads) rope_kernel(Rotation a) {
  const Item item(a.pieces);  // an item is a vector of pairs of one head
  if (item.index >= a.items) return;
  const int i = int(item.piece) * 8, left = a.half - i;
  const int64_t token = item.row / uint32_t(a.heads), head = item.row % uint32_t(a.heads);
  const float* cosine = a.table + a.positions[token] * a.table_stride + i;
  bf16* const x = a.x + token * a.x_stride + head * a.dim;
  const Eight c = load_eight(cosine, left, a.wide), s = load_eight(cosine + a.half, left, a.wide);
  bf16* const low = x + (a.interleaved ? 2 * i : i);
  bf16* const high = a.interleaved ? low + 8 : low + a.half;
  const int of_low = a.interleaved ? 2 * left : left, of_high = a.interleaved ? of_low - 8 : left;
  Eight u = load_eight(low, of_low, a.wide), v = load_eight(high, of_high, a.wide);
#pragma unroll
  for (int k = 0; k < 8; ++k) {
    const float sine = s.at[k] * a.sign;
    if (!a.interleaved) turn(u.at[k], v.at[k], c.at[k], sine);
    else if (k < 4) turn(u.at[2 * k], u.at[2 * k + 1], c.at[k], sine);
    else turn(v.at[2 * k - 8], v.at[2 * k - 7], c.at[k], sine);
  }
  store_eight(low, u, of_low, a.wide);
  store_eight(high, v, of_high, a.wide);
}

}  // namespace

void rope(const Stream& stream, const RopeArgs& args) {
  const int64_t tokens = args.x.dim(0), heads = args.x.dim(1), half = args.table.dim(1) / 2, pieces = (half + 7) / 8;
  const Rotation a{args.x.as<bf16>(), args.x.row_stride, args.positions.as<const int32_t>(),
                   args.table.as<const float>(), args.table.row_stride, tokens * heads * pieces, int(heads), int(args.x.dim(2)), int(half),
                   int(pieces), args.inverse ? -1.0f : 1.0f,
                   is_wide(args.x) && is_wide(args.table) && half % 8 == 0 && args.x.dim(2) % 8 == 0, args.interleaved};
  HONE_LAUNCH(rope_kernel, blocks_for(a.items, kThreads), kThreads, 0, stream, a);
}

}  // namespace hone::kernels::cuda
