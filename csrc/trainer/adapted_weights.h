// Computes the weights W + s B A of a model with LoRA adapters, one matrix at a time, to be packed.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

#include "core/arena.h"
#include "model/adapters.h"
#include "model/parameters.h"
#include "model/weight_snapshot.h"

namespace hone::trainer {

/// Computes W' = W + s B A of one matrix at a time, in f32, when it is packed. The base W is in host memory
/// (on the CPU as bf16 if that is exact); a GPU holds only packed copies. Base and adapters must outlive this
/// object.
class AdaptedWeights {
 public:
  AdaptedWeights(const Stream& stream, model::Parameters& base, model::Adapters& adapters);

  /// Must be called after the base was rewritten: every matrix is then computed again. On the CPU the base is
  /// stored as bf16 from now on if bf16 represents it exactly, as it does published models' weights; this
  /// halves its memory.
  void base_changed();
  bool is_whole() const { return whole_; }
  /// Packs A and B. Call before form() if A or B have changed.
  void prepare() { adapters_.pack(stream_); }
  /// Call when every changed matrix has been packed.
  void packed();
  /// Returns the matrix to pack in place of `from`, one of the base's views. With `only_changed`, returns an
  /// empty view for a matrix without adapters, unless the base was rewritten. Valid until the next call.
  TensorView form(const TensorView& from, bool only_changed);
  /// Index, in the base's block, of the first element of one of its views; independent of the storage dtype.
  int64_t place(const TensorView& from) const;

 private:
  void find_experts(int64_t layer);
  TensorView room(const TensorView& from, int64_t extra);
  TensorView carried(const TensorView& from, int64_t extra);

  Stream stream_;
  model::Parameters& base_;
  model::Adapters& adapters_;
  /// Adds s B A to w, a copy of a base matrix.
  using Add = std::function<void(const TensorView& w, Arena& scratch)>;
  std::map<int64_t, Add> changed_;  // adapted matrices, by index of their first element in the base
  Arena scratch_, large_;  // large_: for an embedding too large for scratch_, while the base is packed
  bool whole_ = true;
};

/// The weights as the network reads them, in host memory: with adapters merged into them, and rounded as
/// `snapshot`, which was packed from `base`.
model::Parameters merged_weights(const Stream& stream, const model::Parameters& base, const model::WeightSnapshot& snapshot,
                                 AdaptedWeights& adapted);

/// Bytes of the scratch that an AdaptedWeights keeps for life.
int64_t forming_bytes(const Stream& stream, const model::ModelConfig& model, const model::AdapterConfig& config);

}  // namespace hone::trainer
