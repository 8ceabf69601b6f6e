// The network: one set of functions, each row independent of the others, serves prefill, decode and the
// training forward.
#pragma once

#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "kernels/attention.h"
#include "model/adapters.h"
#include "model/experts.h"
#include "model/routes.h"
#include "model/row_blocks.h"
#include "model/weight_snapshot.h"

namespace hone::model {

/// Computes attention over keys that lie in packed sequences (trainer) or in KV-cache pages (engine).
class AttentionSource {
 public:
  virtual ~AttentionSource() = default;
  /// Where a layer's keys and values are written before attention: KV-cache pages, or nowhere (they stay in
  /// qkv).
  virtual kernels::KvPlace place(int64_t) const { return {}; }
  /// Attention of a layer. q [R, H, D], k and v [R, K, D] are strided rows of one qkv matrix, after rotary
  /// embedding; k and v have already been written to place(layer). sinks: [H] or empty. Writes out [R, H, D]
  /// and, in training only, lse [R, H] (otherwise empty).
  virtual void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView& k, const TensorView& v,
                      const TensorView& sinks, const TensorView& out, const TensorView& lse) = 0;
  /// For a layer of gated DeltaNet or convolution: which rows belong to one sequence, and the recurrent
  /// states from which they continue.
  virtual kernels::DeltaRuns runs(int64_t layer) = 0;
};

/// Forward pass of generation for R rows: hidden states after the final norm, divided by logits_scaling.
/// ids [R] i32, positions [R] i32 -> hidden [R, C] in the stream's activation dtype (overwritten).
/// Takes and releases forward_scratch_bytes(stream, config, R) of scratch. The bits of a row depend only on
/// its token, its position and its keys. Throws kShape if a position is outside the rope table; on a GPU ids
/// and positions are not checked (the caller has checked them on the host). routes [R, route_bytes] or null:
/// receives the experts of each row.
void forward(const Stream& stream, const WeightSnapshot& weights, const TensorView& ids,
             const TensorView& positions, AttentionSource& attention, Arena& scratch, const TensorView& hidden, uint8_t* routes = nullptr);
int64_t forward_scratch_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);
/// Factor of q.k in attention: 1 / sqrt(D), or as the config says.
float attention_scale(const ModelConfig& config);

/// Throws kUnsupported naming the field unless the GPU kernels support the model: sizes are multiples of 8, D
/// is at most 128, and no part needs a kernel that only the CPU has (docs/reference/models.md).
void check_for_gpu(const ModelConfig& config);

/// One packed micro-batch of T tokens. Sequences do not attend to each other; positions restart at 0 in each.
/// The objective reads the hidden states of the R loss_rows only (strictly ascending), so that after the last
/// layer's attention no other row is computed. Empty loss_rows: all T rows.
struct PackedRows {
  TensorView ids;         // [T] i32
  TensorView positions;   // [T] i32
  TensorView cu_seqlens;  // [S+1] i32
  TensorView loss_rows;   // [R] i32, or empty
  bool deterministic = false;  // use the deterministic attention backward of AttentionPackedArgs
  /// Set if ranks divide the rows: ids, positions and loss_rows are then this rank's, and T and R are their
  /// numbers, but cu_seqlens covers the whole micro-batch.
  HeadExchange* exchange = nullptr;
  // [L, E] f64 or empty: a backward adds the number of rows that went to each expert
  TensorView expert_rows{};
  GivenRoutes routes{};  // experts given for the T rows
  // auxiliary loss of routers; in the last layer over the loss rows, since no other rows reach its experts
  RouterTerms router{};
  int64_t outputs() const { return loss_rows.rank ? loss_rows.dim(0) : ids.dim(0); }
  RouterTerms router_terms(bool last_layer) const {
    RouterTerms terms = router;
    if (!last_layer || !loss_rows.rank) terms.starts = cu_seqlens;
    return terms;
  }
};

/// What the training forward stores of one layer for the backward; the caller's arena owns it. Q is R
/// (PackedRows: the rows with a loss) in the last layer and T (all tokens) in others. All views have the stream's activation dtype, except lse (f32). If ranks
/// divide the rows, qkv, attn_out and lse hold all rows but only this rank's heads.
struct LayerActivations {
  TensorView input;      // [T, C] residual stream entering the layer
  // [T, (H+2K)D] after bias, q/k norm and rotation; [T, inputs] in a layer of gated DeltaNet; with both, [T, (H+2K)D + inputs]
  TensorView qkv;
  TensorView qk_raw;     // [T, raw_width] before q/k norm, and v before its own; only when qk_norm
  TensorView v;          // [T, KD] where all layers share one qkv, which the backward makes of this and qk_raw again
  TensorView attn_out;   // [T, H, D], or [T, M, Dv]
  TensorView beside;     // [T, M Dv] output of Mamba-2 beside attention
  TensorView gates;      // [T, HD] before the sigmoid, with gated attention alone
  TensorView gated;      // [T, HD] attn_out after the gate, likewise
  TensorView lse;        // [T, H]; of attention alone
  TensorView attn_rows;  // [Q, HD] the rows of mixed() that the rest of the layer reads
  TensorView beside_rows;  // [Q, M Dv] the rows of `beside`, likewise
  TensorView middle;     // [Q, C] residual stream after attention; with parallel halves that entering the layer
  TensorView gate_up;    // [Q, gate_up_width(F)]; the backward puts its gradient here; F is 0 if the layer has only experts
  ExpertActivations experts;  // of Q rows; where the layer has experts
  TensorView attn_added;  // [Q, C] what attention adds, before its norm; only with norms after
  TensorView mlp_added;   // [Q, C] what the MLP adds, likewise
  bool kept = true;       // for a backward; false in generation, where gate_up may be left unwritten
  /// The input of `o` for all rows: [T, HD] or [T, M Dv].
  TensorView mixed() const;
};
struct Activations {
  // layers store only `input`, and `shared` has the other activations of one layer at a time
  bool recompute = false;
  std::vector<LayerActivations> layers;
  // buffers of T rows for one layer of each kind (ModelConfig::kind); attn_rows belongs to the last layer,
  // where R < T
  LayerActivations shared[3];
  TensorView last;    // [R, C] residual stream leaving the last layer
  TensorView hidden;  // [R, C] input of the head: after the final norm, divided by logits_scaling
};

/// The forward pass of training. Its hidden states equal those of `forward` for the same tokens, bit for bit.
/// Activations are taken from `arena` (training_bytes) and stay until the caller releases them. With
/// `recompute` each layer stores only its input, and the backward recomputes the rest by the same calls, so
/// that it gets the same bits. Throws kShape as `forward` does. Does not check cu_seqlens and loss_rows,
/// which the packer built.
Activations forward_training(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                             Arena& arena, bool recompute = false);
/// A layer's activations for the backward: those stored, or, with saved.recompute, those recomputed into
/// saved.shared (for every layer but the last, which is still there). Takes and releases the scratch of a
/// layer's forward.
LayerActivations layer_activations(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                                   int64_t layer, const Activations& saved, Arena& arena);

/// The transposed matrices of a layer, with which its backward multiplies gradients. On a GPU they are the
/// snapshot's packed matrices, marked as transposed.
struct TransposedLayer {
  kernels::PackedMatrix qkv, o, o_beside, gate_up, down;
  TransposedExperts experts;
};
/// Makes the transposes of a layer's matrices. On the CPU takes at most transposed_layer_bytes from the
/// arena.
TransposedLayer transpose_layer(const Stream& stream, const PackedLayer& packed, Arena& arena);
int64_t transposed_layer_bytes(const Stream& stream, const ModelConfig& config, DType storage);
/// The transpose [C, V] of the head, for its backward, in memory that is there already: on a GPU the snapshot's, on the CPU
/// the rows of the parameters that the snapshot was packed from.
kernels::PackedMatrix transposed_head(const Stream& stream, const WeightSnapshot& weights, const Parameters& parameters);

/// Gradients of all parameters in less memory than all of them need: a layer's gradients exist from its
/// backward until finished(), those outside of layers always. All start as zeros.
class LayerGradients {
 public:
  virtual ~LayerGradients() = default;
  virtual LayerViews layer(int64_t i) = 0;
  /// Tells that the backward adds nothing more to the gradients of layer i. Called from the last layer to the
  /// first.
  virtual void finished(int64_t i) = 0;
  virtual TensorView embedding() = 0;
  virtual TensorView final_norm() = 0;
  virtual TensorView head() = 0;
};

/// Where a backward adds gradients: to those of all parameters (in one block, or layer by layer), or only to
/// the adapters'.
struct Gradients {
  Parameters* parameters = nullptr;
  const Adapters* adapters = nullptr;
  TensorBlock* of_adapters = nullptr;  // a block of adapter_specs
  // [unused_gradient_width] f32: kernels write the gradients of frozen weights here; nothing reads them
  TensorView unused{};
  LayerGradients* window = nullptr;    // used in place of `parameters` if set
  TensorView head() const;
  TensorView embedding() const;
  TensorView final_norm() const;
  /// Views of the gradients of a layer; those of frozen matrices and biases are empty.
  LayerViews layer(const ModelConfig& config, int64_t i) const;
};
int64_t unused_gradient_width(const ModelConfig& config);

/// A block of rows and where its gradients are added. Sums over rows are taken within a block; every row
/// belongs to exactly one block.
struct BlockGradients {
  RowBlock rows;
  Gradients grads;
};
/// All rows as one block.
std::vector<BlockGradients> one_block(const PackedRows& rows, const Gradients& grads);

/// Adds dLoss/dparameter of everything below the head to the gradients of `blocks`, given dhidden [R, C]
/// (overwritten). Overwrites the gate_up of `saved`. Takes and releases scratch of `arena`. A block's
/// gradients have the bits that a rank with those rows would get if ranks divided the rows.
void backward(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows, const Activations& saved,
              const TensorView& dhidden, const std::vector<BlockGradients>& blocks, Arena& arena);
/// Bytes that forward_training and backward take from the arena for T tokens and matrices of dtype `storage`.
/// divided: ranks divide the rows, and T is the number of this rank's.
struct TrainingBytes {
  int64_t kept = 0;     // stored by the forward for the backward
  int64_t scratch = 0;  // used while a layer runs
  int64_t total() const { return kept + scratch; }
};
TrainingBytes training_bytes(const Stream& stream, const ModelConfig& config, int64_t tokens, bool recompute, bool divided = false,
                             DType storage = DType::kF32);
/// Scratch bytes of the backward without the forward, on a single rank.
int64_t backward_scratch_bytes(const Stream& stream, const ModelConfig& config, int64_t tokens, DType storage);

}  // namespace hone::model
