// One decoder layer's forward pass. Generation and training make the same calls and so get the same bits.
#pragma once

#include "model/network.h"

namespace hone::model {

/// A range of columns of a matrix as heads: `count` heads of `dim` columns each, starting at column `first`;
/// [R, count, dim] with strided rows.
TensorView head_view(const TensorView& matrix, int64_t first, int64_t count, int64_t dim);
/// q [R, H, D], k and v [R, K, D] as views of one matrix whose rows hold q, k and v side by side.
struct HeadViews {
  TensorView q, k, v;
};
/// Numbers of columns of q, of k and of v in a layer's qkv matrix.
std::vector<int64_t> qkv_widths(const ModelConfig& config);
HeadViews heads_of(const ModelConfig& config, int64_t layer, const TensorView& qkv, int64_t share = 1);
/// n ones, in memory of the arena.
TensorView ones(Arena& arena, int64_t n);
/// Views contiguous [R, H, D] as [R, H D].
TensorView as_matrix(const TensorView& heads);
/// Columns [first, first + count) of a matrix, as [R, count] strided rows.
TensorView column_view(const TensorView& matrix, int64_t first, int64_t count);

/// The columns of act.qkv, or of its gradient, that gated DeltaNet, Mamba-2 or a short convolution reads.
TensorView linear_columns(const ModelConfig& config, int64_t layer, const TensorView& qkv);
/// Multiplies columns of a layer's first product, or of its gradient, as ModelConfig::multipliers say.
void scale_entering(const Stream& stream, const ModelConfig& config, int64_t layer, const TensorView& qkv);
/// The same for gate and up of the MLP, where up also gets the factor of what leaves the MLP.
void scale_gate_up(const Stream& stream, const ModelConfig& config, const TensorView& gate_up);

/// Temporary buffers that a layer's forward overwrites, besides its saved activations; they hold nothing
/// after the call.
struct LayerScratch {
  TensorView normed;  // [R, C]
  TensorView mlp;     // [R, F] of the widest MLP
  // [R, C] output of attention or MLP before it is added to the residual stream; only if config.adds_apart()
  TensorView added;
  Arena* ops = nullptr;  // scratch of the kernels; each kernel call releases what it takes
};

/// The memory of `buffer` viewed as the same number of contiguous rows of another width.
TensorView of_width(const TensorView& buffer, int64_t width);

/// y = norm(x), as the config has the norms of the residual stream. y may alias x.
void norm_rows(const Stream& stream, const ModelConfig& config, const TensorView& x, const TensorView& weight, const TensorView& y);

/// x = x + o(attention(norm(x))), then x = x + down(swiglu(gate_up(norm(x)))), with experts in place of that
/// MLP or beside it. The config may norm what is added instead of the input, or both, and may scale what is
/// added; or both halves read norm(x) of the layer's input (ModelConfig::parallel). Reads act.input; writes every other view of act and the layer's result into `out` [R, C].
/// Generation passes one buffer as act.input, act.middle and out; then nothing is copied. act.qk_raw, lse and
/// *_added may be empty.
void layer_forward(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                   const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                   const LayerActivations& act, const LayerScratch& scratch, const TensorView& out);

/// The first part of layer_forward: norm, projections, rotation, attention and its gate, or gated DeltaNet.
/// Reads act.input; writes qkv, qk_raw, v, gates, attn_out, gated, beside and lse.
void layer_attention(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                     const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                     const LayerActivations& act, const LayerScratch& scratch);
/// Writes act.qkv again, as layer_attention did, from act.qk_raw and act.v. round_keys: its keys are rounded to bf16.
void restore_heads(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, const TensorView& positions,
                   const TensorView& rope_table, const LayerActivations& act, bool round_keys);
/// The second part of layer_forward, which may run on fewer rows: act.middle holds the residual stream that
/// entered the layer and gets o(act.attn_rows), and what is beside it, added (with parallel halves `out` gets it); then gate_up and out as above. An empty `out` is not
/// computed: only what act keeps.
void layer_output(const Stream& stream, const ModelConfig& config, const PackedLayer& weights,
                  const LayerActivations& act, const LayerScratch& scratch, const TensorView& out);

/// The most scratch that any op of a layer takes from the arena for this number of rows; gradients but those of attention, norms
/// and gated DeltaNet take no more.
int64_t layer_ops_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);
/// layer_ops_bytes with what gradients alone take.
int64_t layer_gradient_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);
/// The part of layer_ops_bytes that gated attention holds while other ops run: heads and gates after they are
/// split.
int64_t gated_heads_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);

/// The part of layer_ops_bytes that gated DeltaNet holds if its columns are grouped by key head; 0 if they
/// are not.
int64_t delta_columns_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);

/// Throws kShape naming the row unless every position is in [0, most).
void check_positions(const TensorView& positions, int64_t most);

}  // namespace hone::model
