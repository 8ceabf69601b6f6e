// Causal grouped-query attention: over packed sequences (training, both directions) and over a paged
// key/value cache (generation). Both give the same bits for the same row, on each backend.
//
// "act" is activation_dtype(stream): f32 on the CPU, bf16 on a GPU (D a multiple of 8 up to 128, rows 16-byte
// aligned, sums in f32). CPU and GPU agree within a bound, not to the bit: docs/explanation/numerics.md.
#pragma once

#include "core/arena.h"
#include "core/stream.h"
#include "core/tensor.h"
#include "kernels/matmul.h"

namespace hone::kernels {

/// Keys are walked in blocks of this many; a block's softmax state (m, l, o) is complete before it is
/// merged into the row's state, blocks in ascending order. One rule for CPU, split-KV decode and training.
inline constexpr int64_t kAttentionSplit = 512;

/// out_t = sum_j softmax_j(scale q_t . k_j) v_j over keys j <= t of the same sequence (and j > t - window).
/// T packed tokens, S sequences, H query heads, K key heads (H % K == 0; query head h reads key head h K / H),
/// D head dim (at most 256), scale > 0. The order of a row's sums on the CPU is: dot products ascending in d;
/// probabilities in 16 lanes by key index mod 16, fixed tree; values ascending in key. On a GPU: the same by steps of
/// 16 of the tensor core, keys in tiles of 64, probabilities in 4 lanes. So a row's bits do not depend on the packing.
struct AttentionPackedArgs {
  TensorView q;           // [T, H, D] act in, strided rows
  TensorView k, v;        // [T, K, D] act in, strided rows
  TensorView cu_seqlens;  // [S+1] i32 in: ascending, first 0, last T; trusted (the packer built it)
  TensorView out;         // [T, H, D] act out
  TensorView lse;         // [T, H] f32 out, natural log of the sum of exp(scale q.k); empty: not wanted
  float scale = 1.0f;
  int32_t window = 0;     // > 0: only the last `window` keys, the row itself included
  bool deterministic = false;  // on a GPU: the instructions generation uses, so that engine and trainer agree to the bit
  float softcap = 0.0f;        // > 0: scores s = scale q.k become softcap tanh(s / softcap). CPU only
  TensorView sinks{};          // [H] f32 in, or empty: score of one more key per head, of value 0. CPU only
};
void attention_packed(const Stream& stream, const AttentionPackedArgs& args);

/// Gradients of the above. dq, dk, dv are overwritten. Deterministic: dk, dv sum over query rows
/// ascending, heads of a group ascending; dq over keys ascending.
struct AttentionPackedGradArgs {
  TensorView q, k, v;     // as in the forward
  TensorView cu_seqlens;  // [S+1] i32 in
  TensorView out;         // [T, H, D] act in, the forward's result
  TensorView lse;         // [T, H] f32 in
  TensorView dout;        // [T, H, D] act in
  TensorView dq;          // [T, H, D] act out, strided rows
  TensorView dk, dv;      // [T, K, D] act out, strided rows
  float scale = 1.0f;
  int32_t window = 0;
  Arena* scratch = nullptr;  // CUDA only: attention_packed_grad_scratch_bytes of device memory
  bool deterministic = false;  // as in the forward
  float softcap = 0.0f;
};
void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& args);
int64_t attention_packed_grad_scratch_bytes(const Stream& stream, int64_t tokens, int64_t heads);

/// dsinks_h -= sum over rows of e^(sink_h - lse) dout . out. The forward's lse and out include the sink, so
/// the gradients above need no further term for it. Sums are f64, rows ascending. CPU only.
struct AttentionSinksGradArgs {
  TensorView sinks;      // [H] f32 in
  TensorView out, dout;  // [T, H, D] f32 in
  TensorView lse;        // [T, H] f32 in
  TensorView dsinks;     // [H] f32 accumulated
};
void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& args);

/// A layer's cache: P pages of W tokens (W a multiple of 16). The layout inside a page is the backend's
/// own (CPU: keys [K][W/16][D][16], values [K][W][D]; GPU: both [K][W][D]); only the two ops below touch it.
/// Positions that were not written may hold anything, NaN included: no result depends on them.
struct KvPages {
  // [P, K*W*D] f32, or both bf16 (written rounded to nearest even, widened when read); GPU: bf16
  TensorView keys, values;
  int64_t kv_heads = 0, page_tokens = 0, head_dim = 0;
};

/// Places of R new tokens in pages, as (sequence, position). B block-table rows, M pages per row. On a GPU a row with a
/// negative sequence is padding: nothing is read or written for it, here and in attention_paged.
struct KvPlace {
  TensorView row_sequence;  // [R] i32 in, index into block_tables
  TensorView row_position;  // [R] i32 in
  TensorView block_tables;  // [B, M] i32 in, page ids; trusted for every position written or read
  KvPages pages;            // overwritten at those positions
};

/// Writes keys and values of R tokens to their places.
struct KvWriteArgs {
  TensorView k, v;  // [R, K, D] act in, strided rows
  KvPlace to;
};
void kv_write(const Stream& stream, const KvWriteArgs& args);

/// Prepares heads for attention, in place: norms q and k per head, if there are weights for it, then rotates them; or
/// rotates them first, which only the CPU supports. With pages, also writes k and v there. Same bits as rms_norm, rope
/// and kv_write in sequence; on a GPU one launch.
struct PrepareHeadsArgs {
  TensorView qk;              // [R, H + K, D] act in/out, strided rows: query heads, then key heads
  TensorView v;               // [R, K, D] act in, strided rows
  TensorView q_norm, k_norm;  // [D] f32 in; both empty: no norm
  float eps = 1e-5f;
  TensorView positions;       // [R], and
  TensorView table;           // [P, N] as RopeArgs has them
  KvPlace to{};               // pages.keys empty: nothing is written
  float norm_offset = 0.0f;   // RmsNormArgs::offset
  bool interleaved = false;   // RopeArgs::interleaved
  bool norm_last = false;     // norms after the rotation
};
void prepare_heads(const Stream& stream, const PrepareHeadsArgs& args);

/// linear into q, k and v side by side, then prepare_heads of them, with the same bits. On a Hopper, few rows of heads
/// whose widths fit its tiles (16, 32, 64 or 128, fully rotated) take one launch. heads.qk and heads.v are views of
/// product.y.
struct LinearHeadsArgs {
  LinearArgs product;  // does not accumulate
  PrepareHeadsArgs heads;
};
void linear_heads(const Stream& stream, const LinearHeadsArgs& args);

/// List of the pages that a GPU's blocks read for the rows of a step, shared by every layer with the same window. Empty
/// on the CPU.
struct PagedList {
  void* memory = nullptr;  // device; its layout is the backend's own
  int64_t states = 0;      // states of rows' splits that fit in the memory
};

/// Like attention_packed for R query rows, row r at row_position[r] of sequence row_sequence[r], reading keys
/// 0..position from the pages (written by kv_write, its own included). Neighbouring rows may begin with the same pages,
/// as rollouts of a group do. prefix_row and prefix_tokens describe this: rows r .. r + n - 1 with prefix_row = r have
/// the same ids in their block tables for positions below prefix_tokens, which is the same for all of them; a row
/// without such neighbours has itself and 0. A GPU reads the shared keys once. This affects no row's bits.
struct AttentionPagedArgs {
  TensorView q;             // [R, H, D] act in, strided rows
  TensorView row_sequence;  // [R] i32 in
  TensorView row_position;  // [R] i32 in
  TensorView block_tables;  // [B, M] i32 in
  KvPages pages;            // in
  TensorView out;           // [R, H, D] act out
  float scale = 1.0f;
  int32_t window = 0;
  PagedList list{};         // CUDA only: for these rows, prefixes, sizes and window; states overwritten
  TensorView prefix_row{}, prefix_tokens{};  // [R] i32 in; both empty: nothing is shared
  float softcap = 0.0f;
  TensorView sinks{};  // AttentionPackedArgs::sinks
};
void attention_paged(const Stream& stream, const AttentionPagedArgs& args);
/// Makes args.list, once for all layers of a step; q, out, and what is in the pages, do not matter. Takes up to
/// attention_paged_scratch_bytes from `memory` (the device's), to be released when the last layer is done. With less,
/// down to that of 512 tokens, results are the same, but rows without room are slower.
PagedList list_attention_paged(const Stream& stream, const AttentionPagedArgs& args, Arena& memory);
/// For up to `rows` rows and sequences of up to `tokens` tokens (block-table columns times W).
int64_t attention_paged_scratch_bytes(const Stream& stream, int64_t rows, int64_t heads, int64_t kv_heads,
                                      int64_t head_dim, int64_t tokens);

}  // namespace hone::kernels
