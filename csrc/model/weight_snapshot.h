// A packed copy of the parameters: what a forward pass reads. Trainer and engine share it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "kernels/matmul.h"
#include "model/parameters.h"
#include "model/rope_table.h"

namespace hone::model {

struct PackedLayer {
  kernels::PackedMatrix qkv, o, gate_up, down;
  TensorView attn_norm, attn_after, mlp_norm, mlp_after, qkv_bias, q_norm, k_norm;  // f32 copies inside the snapshot
};

/// What snapshots take in the stream's memory: each its tensors, of which the head's own matrix is a part (0 where the
/// embedding serves), and all of one config together their rope tables.
struct SnapshotBytes {
  int64_t tensors = 0, head = 0, rope_tables = 0;
};
SnapshotBytes snapshot_bytes(const Stream& stream, const ModelConfig& config, DType storage);

/// Published once per weight version; lives as long as an engine or a backward pass holds it. Its tensors lie in the
/// memory of the stream that made it and keep their addresses for life.
class WeightSnapshot {
 public:
  /// Packs (and copies) everything from `parameters`. storage kF32 or kBF16 (block matrices rounded to bf16;
  /// embedding, norms, biases and the head stay f32; attention reads keys and values rounded to bf16, so that a cache
  /// of bf16 loses nothing). On a GPU block matrices and embedding are bf16 whatever
  /// `storage` says, and a tied head is the embedding. Throws kOutOfMemory.
  static std::shared_ptr<WeightSnapshot> make(const Stream& stream, const Parameters& parameters, uint32_t version,
                                              DType storage = DType::kF32);
  /// Room for another version with addresses of its own, which nobody has written yet; the rope tables are shared.
  std::shared_ptr<WeightSnapshot> blank(const Stream& stream) const;
  /// Where each tensor of the parameters has its copy here; which of the two says what it is made by.
  struct Part {
    TensorView from;
    kernels::PackedMatrix matrix;  // or, where this has no memory,
    TensorView values;             // f32 as they are
    /// On a GPU: the elements of `from` in its order, bf16 or f32.
    TensorView flat() const;
  };
  std::vector<Part> parts(const Parameters& parameters) const;
  /// As make, in place. Nobody may read it meanwhile.
  void repack(const Stream& stream, const Parameters& parameters, uint32_t version);

  /// A copy with addresses of its own, and taking over another snapshot of the same config and storage in place.
  std::shared_ptr<WeightSnapshot> clone(const Stream& stream) const;
  void assign(const Stream& stream, const WeightSnapshot& from);

  uint32_t version = 0;
  ModelConfig config;
  DType storage = DType::kF32;
  std::vector<PackedLayer> layers;
  TensorView embedding;   // [V, C]
  TensorView final_norm;  // [C]
  kernels::PackedMatrix head;
  /// Of a layer: the angles of all, of those with a window where they have a theta of their own, or none to turn.
  const TensorView& rope_table(int64_t layer) const;
  int64_t bytes() const { return arena_.used(); }
  Memory memory() const { return arena_.memory(); }

 private:
  WeightSnapshot(const Stream& stream, const ModelConfig& config, DType storage);
  void make_tables(const Stream& stream);
  void share_tables(const WeightSnapshot& from);
  Arena arena_;
  std::shared_ptr<const RopeTable> rope_, sliding_rope_, still_rope_;  // null where no layer needs it
};

}  // namespace hone::model
