// Causal grouped-query attention over packed sequences (training, forward and backward) and over a paged KV
// cache (generation). On each backend both give the same bits for the same row.
//
// "act" is activation_dtype(stream): f32 on the CPU, bf16 on a GPU. On a GPU D is a multiple of 8 up to 256,
// rows are 16-byte aligned and sums are f32. CPU and GPU results differ within the bound of
// docs/explanation/numerics.md.
#pragma once

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Keys are processed in splits of this many, in ascending order. The softmax state (m, l, o) of a split is
/// completed before it is merged into the row's state. CPU, split-KV decode and training share this rule.
inline constexpr int64_t kAttentionSplit = 512;

/// out_t = sum_j softmax_j(scale q_t . k_j) v_j over keys j <= t of the same sequence (and j > t - window).
/// T packed tokens, S sequences, H query heads, K key heads (H % K == 0; query head h reads key head h K /
/// H), D head dim (at most 512), scale > 0. The order of a row's sums is fixed, so that its bits do not
/// depend on the packing. On the CPU: dot products ascending in d; probabilities in 16 lanes by key index mod
/// 16, added by a fixed tree; values ascending in key. On a GPU: dot products and values in steps of 16 (the
/// tensor core's depth), keys in tiles of 64 (32 if D > 128), probabilities in 4 lanes. act: activation_dtype of the stream.
struct AttentionPackedArgs {
  TensorView q;           // [T, H, D] act in, strided rows
  TensorView k, v;        // [T, K, D] act in, strided rows
  TensorView cu_seqlens;  // [S+1] i32 in: ascending, first 0, last T; not checked (the packer built it)
  TensorView out;         // [T, H, D] act out
  TensorView lse;         // [T, H] f32 out, natural log of the sum of exp(scale q.k); empty: not computed
  float scale = 1.0f;
  int32_t window = 0;     // > 0: a row attends only to the last `window` keys, including its own
  // on a GPU: uses the instructions that generation uses, so that engine and trainer agree to the bit
  bool deterministic = false;
  float softcap = 0.0f;        // > 0: scores s = scale q.k become softcap tanh(s / softcap). CPU only
  // [H] f32 in, or empty: per head the score of one additional key, whose value is 0
  TensorView sinks{};
};
void attention_packed(const Stream& stream, const AttentionPackedArgs& args);

/// Gradients of attention_packed. dq, dk, dv are overwritten. Deterministic: dk and dv sum over query rows in
/// ascending order, and over the heads of a group in ascending order; dq sums over keys in ascending order.
struct AttentionPackedGradArgs {
  TensorView q, k, v;     // as passed to the forward
  TensorView cu_seqlens;  // [S+1] i32 in
  TensorView out;         // [T, H, D] act in, the forward's result
  TensorView lse;         // [T, H] f32 in
  TensorView dout;        // [T, H, D] act in
  TensorView dq;          // [T, H, D] act out, strided rows
  TensorView dk, dv;      // [T, K, D] act out, strided rows
  float scale = 1.0f;
  int32_t window = 0;
  Arena* scratch = nullptr;  // CUDA only: attention_packed_grad_scratch_bytes of device memory
  bool deterministic = false;  // as passed to the forward
  float softcap = 0.0f;
};
void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& args);
int64_t attention_packed_grad_scratch_bytes(const Stream& stream, int64_t tokens, int64_t heads);

/// Gradient of the sinks: dsinks_h -= sum over rows of e^(sink_h - lse) dout . out. The forward's lse and out
/// include the sink, so that attention_packed_grad needs no further term for it. Sums are f64, on the CPU with
/// rows ascending, on a GPU in a fixed tree.
struct AttentionSinksGradArgs {
  TensorView sinks;      // [H] f32 in
  TensorView out, dout;  // [T, H, D] act in
  TensorView lse;        // [T, H] f32 in
  TensorView dsinks;     // [H] f32 accumulated
};
void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& args);

/// A layer's KV cache: P pages of W tokens (W a multiple of 16). Each backend has its own layout within a
/// page (CPU: keys [K][W/16][D][16], values [K][W][D]; GPU: both [K][W][D]), which only kv_write and
/// attention_paged know. Positions that were not written may hold anything, including NaN: no result depends
/// on them.
struct KvPages {
  // [P, K*W*D]: f32, or both bf16 (rounded to nearest even when written, widened when read); on a GPU bf16
  TensorView keys, values;
  int64_t kv_heads = 0, page_tokens = 0, head_dim = 0;
};

/// Where the keys and values of R new tokens go: each token's sequence and position. B block-table rows, M
/// pages per row. On a GPU a row with a negative sequence is padding: nothing is read or written for it,
/// neither by kv_write nor by attention_paged.
struct KvPlace {
  TensorView row_sequence;  // [R] i32 in, index into block_tables
  TensorView row_position;  // [R] i32 in
  TensorView block_tables;  // [B, M] i32 in, page ids; not checked
  KvPages pages;            // overwritten at those positions
};

/// Writes the keys and values of R tokens to their pages.
struct KvWriteArgs {
  TensorView k, v;  // [R, K, D] act in, strided rows
  KvPlace to;
};
void kv_write(const Stream& stream, const KvWriteArgs& args);

/// Prepares heads for attention, in place: applies the RMS norm to each head of q and k, if weights are
/// given, then rotary embedding (or first rotary embedding, then the norm, on the CPU only). If `to` has
/// pages, also writes k and v to them. Same bits as rms_norm, rope and kv_write in sequence; on a GPU one
/// launch.
struct PrepareHeadsArgs {
  TensorView qk;              // [R, H + K, D] act in/out, strided rows: query heads, then key heads
  TensorView v;               // [R, K, D] act in, strided rows
  TensorView q_norm, k_norm;  // [D] f32 in; both empty: no norm
  float eps = 1e-5f;
  TensorView positions;       // positions [R]; see RopeArgs
  TensorView table;           // table [P, N]; see RopeArgs
  KvPlace to{};               // pages to write k and v to; pages.keys empty: none
  float norm_offset = 0.0f;   // RmsNormArgs::offset
  bool interleaved = false;   // RopeArgs::interleaved
  bool norm_last = false;     // apply the norm after rotary embedding
};
void prepare_heads(const Stream& stream, const PrepareHeadsArgs& args);

/// Runs linear, whose output is q, k and v side by side, then prepare_heads on them, with the same bits. On a
/// Hopper GPU it takes one launch if there are few rows, and heads whose width fits a tile (16, 32, 64 or
/// 128, fully rotated). heads.qk and heads.v are views of product.y.
struct LinearHeadsArgs {
  LinearArgs product;  // must not accumulate
  PrepareHeadsArgs heads;
};
void linear_heads(const Stream& stream, const LinearHeadsArgs& args);

/// The pages that each GPU block reads for the rows of a step; layers with the same window share the list.
/// Empty on the CPU.
struct PagedList {
  void* memory = nullptr;  // device memory, in the backend's own layout
  int64_t states = 0;      // number of per-split row states that fit in the memory
};

/// Attention like attention_packed for R query rows. Row r is at row_position[r] of sequence row_sequence[r],
/// and reads keys 0..position from the pages (kv_write has already written its own). Consecutive rows may
/// begin with the same pages, as the rollouts of a group do; a GPU then reads the shared keys once, which
/// changes no bit. prefix_row and prefix_tokens describe this: rows r .. r + n - 1 with prefix_row = r have
/// the same page ids in their block tables for positions below prefix_tokens, which is equal for all of them.
/// A row without such neighbours has its own index and 0.
struct AttentionPagedArgs {
  TensorView q;             // [R, H, D] act in, strided rows
  TensorView row_sequence;  // [R] i32 in
  TensorView row_position;  // [R] i32 in
  TensorView block_tables;  // [B, M] i32 in
  KvPages pages;            // in
  TensorView out;           // [R, H, D] act out
  float scale = 1.0f;
  int32_t window = 0;
  PagedList list{};         // CUDA only: from list_attention_paged for these rows, prefixes, sizes and
                            // window; its states are overwritten
  TensorView prefix_row{}, prefix_tokens{};  // [R] i32 in; both empty: nothing is shared
  float softcap = 0.0f;
  TensorView sinks{};  // AttentionPackedArgs::sinks
};
void attention_paged(const Stream& stream, const AttentionPagedArgs& args);
/// Makes args.list, once for all layers of a step that have the same window; does not read q, out or the
/// pages' contents. Takes up to attention_paged_scratch_bytes from `memory` (device memory), which may be
/// released when the last layer is done. With less memory, but at least that for 512 tokens, results are the
/// same, and rows whose states do not fit are slower.
PagedList list_attention_paged(const Stream& stream, const AttentionPagedArgs& args, Arena& memory);
/// Device memory for up to `rows` rows and sequences of up to `tokens` tokens (block-table columns times W).
int64_t attention_paged_scratch_bytes(const Stream& stream, int64_t rows, int64_t heads, int64_t kv_heads,
                                      int64_t head_dim, int64_t tokens);

}  // namespace hone::kernels
