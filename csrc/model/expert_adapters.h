// LoRA adapters of a layer's experts: one A and one B per expert, stored as PEFT stores adapters of a
// three-dimensional parameter.
#pragma once

#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "kernels/matmul.h"

namespace hone::model {

/// The operands of a gradient of the experts' adapters: output gradients dy [R k, N] and inputs x [R k, K] of
/// a product of experts, in the order of pairs that kernels/experts.h defines. Only pairs of rows [first_row,
/// last_row) contribute.
struct ExpertPairs {
  TensorView dy, x, begins, rows;
  int64_t first_row = 0, last_row = 0;
};

/// The adapters of one product of a layer's experts: W_e' = W_e + s B_e A_e for each expert e.
class ExpertAdapters {
 public:
  /// a [E r, K]: rows e r to (e + 1) r are A_e. b [N, E r]: column j E + e is column j of B_e. turned: W_e is
  /// stored as [K, N]. Source: PEFT, ParamWrapper.
  ExpertAdapters(const TensorView& a, const TensorView& b, int64_t experts, bool turned);

  /// Packs A and B; must be called after they have changed, before add() and gradient(). Takes packed_bytes
  /// from `packs`.
  void pack(const Stream& stream, Arena& packs);
  /// Adds s B_e A_e, or its transpose if turned, to w, the matrix of one expert. Takes and releases
  /// form_bytes of scratch.
  void add(const Stream& stream, float scale, int64_t expert, const TensorView& w, Arena& scratch) const;
  /// Adds the gradients of all experts' A to da and of their B to db (formulas: Adapters::gradient). Takes
  /// and releases gradient_bytes of scratch.
  void gradient(const Stream& stream, float scale, const ExpertPairs& pairs, const TensorView& da, const TensorView& db, Arena& scratch) const;

 private:
  void pack_on_gpu(const Stream& stream, Arena& packs);
  void add_on_gpu(const Stream& stream, float scale, int64_t expert, const TensorView& w, Arena& scratch) const;
  /// The gradient of B, given the products `thin` of the pairs' inputs and A, times s. Takes from scratch.
  void gradient_of_b(const Stream& stream, const ExpertPairs& pairs, const TensorView& thin, const TensorView& db, Arena& scratch) const;
  int64_t rank() const { return a_.dim(0) / experts_; }
  TensorView a_of(int64_t expert) const;
  /// to_experts copies B [N, E r] to [E N, r], expert after expert; from_experts copies it back.
  void to_experts(const TensorView& b, float* out) const;
  void from_experts(const float* in, const TensorView& b) const;
  void copy_b(int64_t expert, float scale, float* out) const;

  TensorView a_, b_;
  int64_t experts_;
  bool turned_;
  // On the CPU packed_form_: packs of the transpose of A, or of B if turned. On a GPU rows_a_ and rows_b_, bf16: row
  // e r + j is row j of A_e [E r, K], or column j of B_e [E r, N]; packed_a_ and packed_bt_ are parts of them.
  std::vector<kernels::PackedMatrix> packed_a_, packed_bt_, packed_form_;
  TensorView rows_a_, rows_b_;
};

/// Buffer sizes for adapters of rank r of E experts with matrices [N, K].
struct ExpertAdapterSizes {
  int64_t experts, rank, n, k;
  bool turned;

  int64_t packed_bytes(const Stream& stream) const;
  int64_t form_bytes(const Stream& stream) const;
  int64_t gradient_bytes(const Stream& stream, int64_t pairs) const;
};

}  // namespace hone::model
