// The one network: the same row-wise functions serve prefill, decode and the training forward.
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

/// Where a layer's attention gets its keys from: packed sequences (trainer) or cache pages (engine).
class AttentionSource {
 public:
  virtual ~AttentionSource() = default;
  /// The pages that take the rows' keys and values before attention; without pages they stay where they are.
  virtual kernels::KvPlace place(int64_t) const { return {}; }
  /// q [R, H, D], k and v [R, K, D] are strided rows of one qkv matrix, rotated already, and k and v
  /// are in their place. sinks [H], or empty. Writes out [R, H, D].
  /// lse [R, H] is empty except in training.
  virtual void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView& k, const TensorView& v,
                      const TensorView& sinks, const TensorView& out, const TensorView& lse) = 0;
  /// The runs of rows of one sequence, and the recurrent states of this layer that they continue.
  virtual kernels::DeltaRuns runs(int64_t layer) = 0;
};

/// Generation: hidden states after the final norm, divided by logits_scaling, for R rows.
///   ids [R] i32, positions [R] i32 -> hidden [R, C] in the stream's activation dtype (overwritten).
/// Takes and releases forward_scratch_bytes(stream, config, R) of scratch. A row's bits depend on its token,
/// position and keys only. Throws kShape if a position is outside the rope table; on a GPU ids and positions are
/// trusted (the caller checked them before they went up). routes [R, route_bytes] gets the experts of each row; or null.
void forward(const Stream& stream, const WeightSnapshot& weights, const TensorView& ids,
             const TensorView& positions, AttentionSource& attention, Arena& scratch, const TensorView& hidden, uint8_t* routes = nullptr);
int64_t forward_scratch_bytes(const Stream& stream, const ModelConfig& config, int64_t rows);
/// 1 / sqrt(D) or the config's own, what AttentionSource implementations scale q.k with.
float attention_scale(const ModelConfig& config);

/// Throws kUnsupported naming the field unless the GPU kernels take the model: sizes a multiple of 8, D at most 128, and
/// no part that only the CPU has (docs/reference/models.md).
void check_for_gpu(const ModelConfig& config);

/// One packed micro-batch. Sequences do not attend to each other; positions restart at each.
/// The objective reads hidden states of loss_rows only (strictly ascending); above the last attention no other row
/// is computed. Empty: all T rows. R is their number.
struct PackedRows {
  TensorView ids;         // [T] i32
  TensorView positions;   // [T] i32
  TensorView cu_seqlens;  // [S+1] i32
  TensorView loss_rows;   // [R] i32, or empty
  bool deterministic = false;  // attention as AttentionPackedArgs has it
  /// Set if ranks divide the rows: ids, positions and loss_rows are then this rank's, and T and R count
  /// those, but cu_seqlens is that of the whole micro-batch.
  HeadExchange* exchange = nullptr;
  double* expert_rows = nullptr;  // [L, E] or null: a backward adds how many of the rows went to each expert
  GivenRoutes routes{};  // of the T rows
  RouterTerms router{};  // over loss rows in the last layer, whose experts get no others
  int64_t outputs() const { return loss_rows.rank ? loss_rows.dim(0) : ids.dim(0); }
  RouterTerms router_terms(bool last_layer) const {
    RouterTerms terms = router;
    if (!last_layer || !loss_rows.rank) terms.starts = cu_seqlens;
    return terms;
  }
};

/// What the training forward keeps for the backward, taken from an arena by the caller's scope.
/// Q = T, but R in the last layer. In the stream's activation dtype, except lse, which is f32. Where ranks divide the rows,
/// qkv, attn_out and lse are of all rows and this rank's heads.
struct LayerActivations {
  TensorView input;      // [T, C] residual stream entering the layer
  TensorView qkv;        // [T, (H+2K)D] after bias, q/k norm and rotation; [T, inputs] in a layer of gated DeltaNet
  TensorView qk_raw;     // [T, (H+K)D] before q/k norm; only when qk_norm
  TensorView attn_out;   // [T, H, D], or [T, M, Dv]
  TensorView gates;      // [T, HD] before the sigmoid, with gated attention alone
  TensorView gated;      // [T, HD] attn_out after the gate, likewise
  TensorView lse;        // [T, H]; of attention alone
  TensorView attn_rows;  // [Q, HD] the rows of mixed() that the rest of the layer reads
  TensorView middle;     // [Q, C] residual stream after attention
  TensorView gate_up;    // [Q, 2F]; the backward puts its gradient here; F is 0 if the layer has only experts
  ExpertActivations experts;  // of Q rows; where the layer has experts
  TensorView attn_added;  // [Q, C] what attention adds, before its norm; only with norms after
  TensorView mlp_added;   // [Q, C] what the MLP adds, likewise
  bool kept = true;       // for a backward; false in generation, where gate_up may be left unwritten
  /// The input of `o` for all rows: [T, HD] or [T, M Dv].
  TensorView mixed() const;
};
struct Activations {
  bool recompute = false;  // layers keep only `input`; `shared` has the rest of the last layer
  std::vector<LayerActivations> layers;
  LayerActivations shared[2];  // buffers of one layer of attention, one of DeltaNet, for T rows; attn_rows is the last layer's, where R < T
  TensorView last;    // [R, C] residual stream leaving the last layer
  TensorView hidden;  // [R, C] input of the head: after the final norm, divided by logits_scaling
};

/// The training forward: bit for bit the hidden states that `forward` computes for the same tokens.
/// Activations come from `arena` (training_bytes) and stay until the caller releases them. With `recompute` a layer keeps
/// what enters it, and the backward computes the rest again: the same calls on the same inputs, hence the same bits.
/// Throws kShape as forward does. Trusts cu_seqlens and loss_rows (the packer built them).
Activations forward_training(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                             Arena& arena, bool recompute = false);
/// A layer's activations: those kept, or with saved.recompute those in saved.shared, where all layers but the
/// last are computed again. Takes and releases the scratch of a layer's forward.
LayerActivations layer_activations(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows,
                                   int64_t layer, const Activations& saved, Arena& arena);

/// The transposed matrices of a layer, by which its backward multiplies gradients. On a GPU they are the
/// snapshot's packs, marked as transposed.
struct TransposedLayer {
  kernels::PackedMatrix qkv, o, gate_up, down;
  TransposedExperts experts;
};
/// On the CPU takes transposed_layer_bytes at most from the arena.
TransposedLayer transpose_layer(const Stream& stream, const PackedLayer& packed, Arena& arena);
int64_t transposed_layer_bytes(const Stream& stream, const ModelConfig& config, DType storage);
/// The same for one matrix, such as the head, whose transpose is [C, V].
kernels::PackedMatrix transpose_matrix(const Stream& stream, const kernels::PackedMatrix& packed, Arena& arena);
int64_t transposed_head_bytes(const Stream& stream, const ModelConfig& config);

/// Gradients of all parameters, not all in memory at once: a layer's are needed from its backward until
/// finished(), the others' all the time. All start as zeros.
class LayerGradients {
 public:
  virtual ~LayerGradients() = default;
  virtual LayerViews layer(int64_t i) = 0;
  /// Nothing more is added to the gradients of layer i. Called from the last layer to the first.
  virtual void finished(int64_t i) = 0;
  virtual TensorView embedding() = 0;
  virtual TensorView final_norm() = 0;
  virtual TensorView head() = 0;
};

/// Where a backward adds gradients: to those of all parameters, at once or by layer, or to the adapters' alone.
struct Gradients {
  Parameters* parameters = nullptr;
  const Adapters* adapters = nullptr;
  TensorBlock* of_adapters = nullptr;  // a block of adapter_specs
  TensorView unused{};                 // [unused_gradient_width] f32: gradients of frozen weights, never read
  LayerGradients* window = nullptr;    // in place of `parameters`
  TensorView head() const;
  TensorView embedding() const;
  TensorView final_norm() const;
  /// Matrices and biases are empty where they are frozen.
  LayerViews layer(const ModelConfig& config, int64_t i) const;
};
int64_t unused_gradient_width(const ModelConfig& config);

/// Where a block's rows add their gradients. Sums over rows are taken within a block; every row is in one.
struct BlockGradients {
  RowBlock rows;
  Gradients grads;
};
/// All rows in one block.
std::vector<BlockGradients> one_block(const PackedRows& rows, const Gradients& grads);

/// Adds dLoss/dparameter of everything below the head to the gradients of `blocks`, given dhidden [R, C] (overwritten).
/// Consumes `saved`: its gate_up are overwritten. Scratch is taken from `arena` and released. A block's gradients have the
/// bits that the rank with those rows would get if ranks divided the rows.
void backward(const Stream& stream, const WeightSnapshot& weights, const PackedRows& rows, const Activations& saved,
              const TensorView& dhidden, const std::vector<BlockGradients>& blocks, Arena& arena);
/// Bytes that forward_training and backward take from the arena for T tokens and matrices of dtype `storage`.
/// divided: ranks divide the rows, and this one has T of them.
struct TrainingBytes {
  int64_t kept = 0;     // from the forward for the backward
  int64_t scratch = 0;  // used while a layer runs
  int64_t total() const { return kept + scratch; }
};
TrainingBytes training_bytes(const Stream& stream, const ModelConfig& config, int64_t tokens, bool recompute, bool divided = false,
                             DType storage = DType::kF32);
/// The scratch of the backward alone, on a single rank.
int64_t backward_scratch_bytes(const Stream& stream, const ModelConfig& config, int64_t tokens, DType storage);

}  // namespace hone::model
