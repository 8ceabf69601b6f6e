// q/k norm, rotary embedding and the write to KV pages in one pass: a warp handles one head of a row. Values
// are rounded to bf16 where the three separate ops would store them, and sums use the same tree, so that bits
// are the same.
#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/heads.cuh"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256, kWarps = kThreads / 32;

/// Applies rotary embedding to values [at, at + 8) of the head in `shared`; pairs are neighbouring values.
__device__ Eight turned_pairs(const Heads& a, const float* shared, const float* angles, int at) {
  Eight out;
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (at + i >= a.turned) {
      out.at[i] = shared[at + i];
      continue;
    }
    const int pair = (at + i) / 2;
    const float c = angles[pair], s = angles[a.turned / 2 + pair];
    const float u = shared[2 * pair], v = shared[2 * pair + 1];
    out.at[i] = i % 2 == 0 ? u * c - v * s : v * c + u * s;
  }
  return out;
}

/// Applies rotary embedding to values [at, at + 8) of the head in `shared`; pairs are half the rotated
/// dimensions apart.
__device__ Eight turned(const Heads& a, const float* shared, int64_t row, int at) {
  const int half = a.turned / 2;
  if (at >= a.turned) return load_vector(shared + at);
  const float* const angles = a.table + a.positions[row] * a.table_stride;
  if (a.interleaved) return turned_pairs(a, shared, angles, at);
  const int first = at < half ? at : at - half;
  Eight cosine, sine, out;
  if (a.wide) {
    cosine = load_vector(angles + first);
    sine = load_vector(angles + half + first);
  }
#pragma unroll
  for (int i = 0; i < 8; ++i) {
    if (at + i >= a.turned) {
      out.at[i] = shared[at + i];
      continue;
    }
    const int low = (at + i) % half;
    const float c = a.wide ? cosine.at[i] : angles[low], s = a.wide ? sine.at[i] : angles[half + low];
    const float u = shared[low], v = shared[low + half];
    out.at[i] = at + i < half ? u * c - v * s : v * c + u * s;
  }
  return out;
}

__global__ void __launch_bounds__(kThreads) prepare_heads_kernel(Heads a) {
  // aligned, since it is written by whole vectors
  __shared__ __align__(16) float shared[kWarps][kMaxHeadDim];
  const int warp = int(threadIdx.x) / 32, at = int(threadIdx.x) % 32 * 8;
  const int64_t item = int64_t(blockIdx.x) * kWarps + warp;
  if (item >= a.items) return;
  const int per_row = a.heads + (a.keys ? 2 : 1) * a.kv_heads, head = int(item % per_row);
  const int64_t row = item / per_row;
  const bool inside = at < a.dim;
  if (head >= a.heads + a.kv_heads) {
    const int key_head = head - a.heads - a.kv_heads;
    bf16* const to = place_of(a, a.values, row, key_head);
    if (to && inside) store_vector(to + at, load_vector(a.v + row * a.v_stride + key_head * a.dim + at));
    return;
  }
  bf16* const x = a.qk + row * a.qk_stride + head * a.dim + at;
  const bool is_key = head >= a.heads;
  Eight value = inside ? load_vector(x) : Eight{};
  if (a.q_norm) value = normed(a, value, is_key ? a.k_norm : a.q_norm, at, warp_sum(squares_of(value)));
  if (inside) store_vector(shared[warp] + at, value);
  __syncwarp();
  if (!inside) return;
  value = turned(a, shared[warp], row, at);
  store_vector(x, value);
  bf16* const to = is_key && a.keys ? place_of(a, a.keys, row, head - a.heads) : nullptr;
  if (to) store_vector(to + at, value);
}

}  // namespace

Heads heads_of(const PrepareHeadsArgs& args) {
  const KvPages& pages = args.to.pages;
  const bool cached = !pages.keys.empty();
  Heads a{};
  a.qk = args.qk.as<bf16>();
  a.v = args.v.as<const bf16>();
  a.qk_stride = args.qk.row_stride;
  a.v_stride = args.v.row_stride;
  a.kv_heads = int(args.v.dim(1));
  a.heads = int(args.qk.dim(1)) - a.kv_heads;
  a.dim = int(args.qk.dim(2));
  a.items = args.qk.dim(0) * (a.heads + (cached ? 2 : 1) * a.kv_heads);
  a.q_norm = args.q_norm.as<const float>();
  a.k_norm = args.k_norm.as<const float>();
  a.eps = args.eps;
  a.norm_offset = args.norm_offset;
  a.turned = int(args.table.dim(1));
  a.positions = args.positions.as<const int32_t>();
  a.table = args.table.as<const float>();
  a.table_stride = args.table.row_stride;
  a.wide = is_wide(args.table) && a.turned % 16 == 0;
  a.interleaved = args.interleaved;
  if (cached) {
    a.keys = pages.keys.as<bf16>();
    a.values = pages.values.as<bf16>();
    a.row_sequence = args.to.row_sequence.as<const int32_t>();
    a.row_position = args.to.row_position.as<const int32_t>();
    a.block_tables = args.to.block_tables.as<const int32_t>();
    a.block_stride = args.to.block_tables.row_stride;
    a.page_tokens = int(pages.page_tokens);
  }
  return a;
}

void prepare_heads(const Stream& stream, const PrepareHeadsArgs& args) {
  const Heads a = heads_of(args);
  HONE_LAUNCH(prepare_heads_kernel, blocks_for(a.items, kWarps), kThreads, 0, stream, a);
}

}  // namespace hone::kernels::cuda
