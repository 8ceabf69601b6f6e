// Adapted weights W + s B A of a frozen base, formed matrix by matrix for packing.
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

/// Forms W' = W + s B A of one matrix at a time, in f32, where it is packed. The base is in host memory (as
/// bf16 if possible on the CPU); a GPU holds packed copies only. Base and adapters must outlive this.
class AdaptedWeights {
 public:
  AdaptedWeights(const Stream& stream, model::Parameters& base, model::Adapters& adapters);

  /// The base has been rewritten; all of it is computed again. On the CPU the base is stored as bf16 from now on if
  /// that is exact, as for published models: half the memory.
  void base_changed();
  bool is_whole() const { return whole_; }
  /// Call before forming, once A or B have changed.
  void prepare() { adapters_.pack(stream_); }
  /// Call when everything that changed has been packed.
  void packed();
  /// The matrix that replaces `from`, one of the base's views; `only_changed`: empty for a matrix that no adapter
  /// changes, unless the base was rewritten. Valid until the next call.
  TensorView form(const TensorView& from, bool only_changed);
  /// Index of the base's element with which a view of it begins, regardless of storage.
  int64_t place(const TensorView& from) const;

 private:
  void find_experts(int64_t layer);
  TensorView room(const TensorView& from, int64_t extra);
  TensorView carried(const TensorView& from, int64_t extra);

  Stream stream_;
  model::Parameters& base_;
  model::Adapters& adapters_;
  /// Adds s B A to the matrix that was copied.
  using Add = std::function<void(const TensorView& w, Arena& scratch)>;
  std::map<int64_t, Add> changed_;  // matrices by their first element in the base
  Arena scratch_, large_;  // large_: for an embedding too large for scratch_, while the base is packed
  bool whole_ = true;
};

/// The weights as the network reads them, in host memory: adapted, and rounded as in `snapshot` of `base`.
model::Parameters merged_weights(const Stream& stream, const model::Parameters& base, const model::WeightSnapshot& snapshot,
                                 AdaptedWeights& adapted);

/// Bytes of the scratch that stays.
int64_t forming_bytes(const Stream& stream, const model::ModelConfig& model, const model::AdapterConfig& config);

}  // namespace hone::trainer
