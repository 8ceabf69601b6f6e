// Packed forward attention with mma.sync: 128 query rows of one head per block (64 if a block cannot get the
// shared memory), 16 per warp. Each block reads keys and values once; only tiles on the diagonal are masked. With
// heads wider than 128 a block computes one half of the columns of the result.
#include "kernels/cuda/attention.h"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/attention_packed.cuh"
#include "kernels/cuda/matmul.h"

namespace hone::kernels::cuda {
namespace {

template <int kDim, int kWarps>
__global__ void __launch_bounds__(kWarps * 32, 1) attention_packed_kernel(PackedForward a) {
  constexpr int kThreads = kWarps * 32, kTileRows = kWarps * 16;
  HONE_DYNAMIC_SHARED(bf16, shared);
  const TileOfSequence tile = tile_of_block(a, kTileRows);
  if (tile.first_row >= tile.length) return;
  constexpr int kParts = Division<kDim>::kParts;
  const int head = blockIdx.y / kParts, part = blockIdx.y % kParts, kv_head = head / a.group;
  const int high = min(tile.first_row + kTileRows, tile.length) - 1;
  const PackedRows keys{a.k + tile.start * a.k_stride + int64_t(kv_head) * a.dim,
                        a.v + tile.start * a.v_stride + int64_t(kv_head) * a.dim, a.k_stride, a.v_stride};
  QueryRows<kDim> queries;
  queries.load(a, tile, head, tile.first_row + int(threadIdx.x) / 32 * 16);
  RowStates<kDim> state;
  walk_keys<kDim, kThreads>(keys, first_key(tile.first_row, a.window), high, a.dim, part, queries.rows,
                            queries.q, queries.range, Exp2Scaled{a.scale * kLog2E}, shared, state);
  queries.store(a, tile, head, state, part);
}

template <int kDim, int kWarps>
void launch_packed(const Stream& stream, int64_t tokens, int64_t heads, const PackedForward& args) {
  const dim3 grid(unsigned(tile_slots(tokens, args.sequences, kWarps * 16)), unsigned(heads * Division<kDim>::kParts));
  HONE_LAUNCH((attention_packed_kernel<kDim, kWarps>), grid, kWarps * 32, (walk_shared_bytes<kDim, kWarps * 32>()), stream,
              args);
}

/// True if a block may have this much shared memory: 163 KB on sm_80, 227 KB on sm_90, but 99 KB on sm_86,
/// sm_89 and sm_120.
bool fits(size_t shared_bytes) {
  return shared_bytes <= size_t(::hone::cuda::device_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
}

template <int kDim>
void launch_wide(const Stream& stream, int64_t tokens, int64_t heads, const PackedForward& args) {
  if (fits(walk_shared_bytes<kDim, 8 * 32>())) launch_packed<kDim, 8>(stream, tokens, heads, args);
  else launch_packed<kDim, 4>(stream, tokens, heads, args);
}

}  // namespace

bool attention_uses_wgmma(int64_t head_dim, bool deterministic) {
  return !deterministic && (head_dim == 64 || head_dim == 128) && has_wgmma();
}

void attention_packed(const Stream& stream, const AttentionPackedArgs& a) {
  const int64_t tokens = a.q.dim(0), heads = a.q.dim(1), dim = a.q.dim(2), sequences = a.cu_seqlens.dim(0) - 1;
  const PackedForward args{a.q.as<bf16>(), a.k.as<bf16>(), a.v.as<bf16>(), a.q.row_stride, a.k.row_stride,
                           a.v.row_stride, a.cu_seqlens.as<int32_t>(), int(sequences), int(heads / a.k.dim(1)),
                           int(dim), a.window, a.scale, a.out.as<bf16>(), a.out.row_stride,
                           a.lse.empty() ? nullptr : a.lse.as<float>(), a.lse.row_stride,
                           a.sinks.empty() ? nullptr : a.sinks.as<float>()};
  if constexpr (::hone::cuda::kSm90Built) {
    if (attention_uses_wgmma(dim, a.deterministic)) return attention_packed_sm90(stream, args, tokens, heads);
  }
  if (dim <= 64) launch_packed<64, 8>(stream, tokens, heads, args);
  else if (dim <= 128) launch_wide<128>(stream, tokens, heads, args);
  else launch_wide<256>(stream, tokens, heads, args);
}

}  // namespace hone::kernels::cuda
