// One decoder layer's forward pass, shared by generation and training: same calls, same bits.
#pragma once

#include "model/network.h"

namespace hone::model {

/// `count` heads of `dim` from column `first` on, as [R, count, dim] strided rows of a matrix.
TensorView head_view(const TensorView& matrix, int64_t first, int64_t count, int64_t dim);
/// q [R, H, D], k and v [R, K, D] of a matrix of q, k and v side by side, with H / share and K / share heads.
struct HeadViews {
  TensorView q, k, v;
};
/// Columns of q, k and v in such a matrix.
std::vector<int64_t> qkv_widths(const ModelConfig& config);
HeadViews heads_of(const ModelConfig& config, const TensorView& qkv, int64_t share = 1);
/// [R, H, D], contiguous, as [R, HD].
TensorView as_matrix(const TensorView& heads);
/// Columns [first, first + count) of a matrix, as [R, count] strided rows.
TensorView column_view(const TensorView& matrix, int64_t first, int64_t count);

/// What a layer writes besides its saved activations; nothing here outlives the call.
struct LayerScratch {
  TensorView normed;  // [R, C]
  TensorView mlp;     // [R, F] of the widest MLP
  TensorView added;   // [R, C] what a half adds, where config.adds_apart()
  Arena* ops = nullptr;  // scratch of the kernels, released after each call
};

/// Contiguous rows of another width in the memory of a buffer.
TensorView of_width(const TensorView& buffer, int64_t width);

/// x = x + o(attention(norm(x))), then x = x + down(swiglu(gate_up(norm(x)))), with experts in place of that
/// MLP or beside it. The config may norm what is added instead of the input, or both, and may scale what is
/// added. Reads act.input; writes every other view of act and the layer's result into `out` [R, C].
/// Generation passes one buffer as act.input, act.middle and out; then nothing is copied. act.qk_raw, lse and
/// *_added may be empty.
void layer_forward(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                   const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                   const LayerActivations& act, const LayerScratch& scratch, const TensorView& out);

/// The first part of layer_forward: norm, projections, rotation, attention and its gate, or gated DeltaNet.
/// Reads act.input; writes qkv, qk_raw, gates, attn_out, gated and lse.
void layer_attention(const Stream& stream, const ModelConfig& config, const PackedLayer& weights, int64_t layer,
                     const TensorView& positions, const TensorView& rope_table, AttentionSource& attention,
                     const LayerActivations& act, const LayerScratch& scratch);
/// The second part of layer_forward, which may run on fewer rows: act.middle holds the residual stream that
/// entered the layer and gets o(act.attn_rows) added; then gate_up and out as above. An empty `out` is not
/// computed: only what act keeps.
void layer_output(const Stream& stream, const ModelConfig& config, const PackedLayer& weights,
                  const LayerActivations& act, const LayerScratch& scratch, const TensorView& out);

/// The most scratch that an op of a layer, or its gradient, takes from the arena for this number of rows,
/// except the gradients of attention and of norms.
int64_t layer_ops_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);
/// The part of it that gated attention holds while other ops run: the heads and gates after their split.
int64_t gated_heads_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);

/// The part that gated DeltaNet holds if its columns are grouped by key head; 0 if they are not.
int64_t delta_columns_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);

/// Throws kShape naming the row unless every position is in [0, most).
void check_positions(const TensorView& positions, int64_t most);

}  // namespace hone::model
