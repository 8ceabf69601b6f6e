// Low-rank adapters of a layer's experts: one A and B an expert, in the tensors that PEFT has for a parameter of three dimensions.
#pragma once

#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "kernels/matmul.h"

namespace hone::model {

/// A gradient dy [R k, N] of a product of experts with inputs x [R k, K], in the pairs' order of kernels/experts.h, of which
/// those of rows [first_row, last_row) count.
struct ExpertPairs {
  TensorView dy, x, begins, rows;
  int64_t first_row = 0, last_row = 0;
};

/// W_e' = W_e + s B_e A_e of one product. On the CPU alone.
class ExpertAdapters {
 public:
  /// a [E r, K]: A_e is rows e r to (e + 1) r. b [N, E r]: column j of B_e is column j E + e. turned: W_e is [K, N].
  /// Source: PEFT, ParamWrapper.
  ExpertAdapters(const TensorView& a, const TensorView& b, int64_t experts, bool turned);

  /// Call once A or B have changed, before the next two; takes packed_bytes of `packs`.
  void pack(Arena& packs);
  /// w, that of one expert, += s B A, or its transpose. Takes and releases form_bytes.
  void add(const Stream& stream, float scale, int64_t expert, const TensorView& w, Arena& scratch) const;
  /// As Adapters::gradient, of all experts. Takes and releases gradient_bytes.
  void gradient(const Stream& stream, float scale, const ExpertPairs& pairs, const TensorView& da, const TensorView& db, Arena& scratch) const;

 private:
  int64_t rank() const { return a_.dim(0) / experts_; }
  TensorView a_of(int64_t expert) const;
  /// Copies B to [E N, r], expert after expert, or back.
  void to_experts(const TensorView& b, float* out) const;
  void from_experts(const float* in, const TensorView& b) const;
  void copy_b(int64_t expert, float scale, float* out) const;

  TensorView a_, b_;
  int64_t experts_;
  bool turned_;
  std::vector<kernels::PackedMatrix> packed_a_, packed_bt_, packed_form_;  // the last: of the transpose of A; turned: of B
};

/// Sizes of E experts' adapters of rank r on matrices [N, K].
struct ExpertAdapterSizes {
  int64_t experts, rank, n, k;
  bool turned;

  int64_t packed_bytes() const;
  int64_t form_bytes() const;
  int64_t gradient_bytes(int64_t pairs) const;
};

}  // namespace hone::model
