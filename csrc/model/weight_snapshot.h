// A packed copy of the parameters: what a forward pass reads. Trainer and engine share it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "kernels/matmul.h"
#include "model/parameters.h"
#include "model/rope_table.h"

namespace hone::model {

/// Returns what is packed in place of one of the parameters' views, a matrix or a vector: a view in the
/// memory that packs are made from, valid until the next call. An empty view: the pack is up to date. No
/// function: the views themselves are packed.
using FormedWeights = std::function<TensorView(const TensorView& from)>;

struct PackedLayer {
  kernels::PackedMatrix qkv, o, gate_up, down;
  TensorView attn_norm, attn_after, mlp_norm, mlp_after, qkv_bias, q_norm, k_norm, sinks, o_bias, router_bias{}, correction{};  // f32 copies inside the snapshot
  kernels::DeltaWeights delta;  // likewise
  kernels::PackedMatrix router{}, shared_gate{};  // f32 whatever the storage, as their products are
  std::vector<kernels::PackedMatrix> experts_gate_up{}, experts_down{};  // one an expert
  TensorView experts_gate_up_bias{}, experts_down_bias{};                // [E, 2F], [E, C] f32, or empty
  bool experts_turned = false;                                       // ExpertsConfig::turned
};

/// Bytes of snapshots in the stream's memory. ends: embedding, final norm and head; head: the part for its
/// matrix (0 if that is the embedding). All snapshots of a config share the rope tables.
struct SnapshotBytes {
  int64_t layers = 0, ends = 0, head = 0, rope_tables = 0;
  int64_t tensors() const { return layers + ends; }
};
/// one_layer: for a snapshot from WeightSnapshot::of_one_layer.
SnapshotBytes snapshot_bytes(const Stream& stream, const ModelConfig& config, DType storage, bool one_layer = false);

/// Fills the layer that is read next, for a snapshot with memory for one layer at a time.
class LayerWeights {
 public:
  virtual ~LayerWeights() = default;
  /// Before a forward pass reads layer i: 0, 1, ..
  virtual void forward(int64_t i) = 0;
  /// Before a backward pass reads it: L - 1, .., 0.
  virtual void backward(int64_t i) = 0;
};

/// Tables of most layers, of sliding ones and of unrotated ones; null if unused. Snapshots share them.
struct RopeTables {
  std::shared_ptr<const RopeTable> common, sliding, still;
  /// The table of a layer: `still` rotates nothing, `sliding` is for layers with a theta of their own.
  const TensorView& of(const ModelConfig& config, int64_t layer) const;
};

/// Published once per weight version; lives as long as an engine or a backward pass holds it. Its tensors lie in the
/// memory of the stream that made it and keep their addresses for life.
class WeightSnapshot {
 public:
  /// Packs (and copies) everything from `parameters`. storage kF32 or kBF16 (block matrices rounded to bf16;
  /// embedding, norms, biases and the head stay f32; attention reads keys and values rounded to bf16, so that a cache
  /// of bf16 loses nothing). arithmetic: of products with block matrices, on the CPU. On a GPU block matrices and embedding are bf16 whatever
  /// `storage` says, and a tied head is the embedding. Throws kOutOfMemory.
  static std::shared_ptr<WeightSnapshot> make(const Stream& stream, const Parameters& parameters, uint32_t version,
                                              DType storage = DType::kF32, const FormedWeights& formed = {},
                                              kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);
  /// A snapshot without contents. memory: the stream's, or kPinned for one that a GPU's engine will copy.
  static std::shared_ptr<WeightSnapshot> empty(const Stream&, const ModelConfig&, DType storage, kernels::Arithmetic, Memory memory);
  /// A snapshot without contents whose layers share one layer's memory. Throws kUnsupported if layers differ.
  static std::shared_ptr<WeightSnapshot> of_one_layer(const Stream&, const ModelConfig&, DType storage, kernels::Arithmetic = kernels::Arithmetic::kF32);
  /// A snapshot for another version, with addresses of its own and without contents; it shares the rope tables.
  std::shared_ptr<WeightSnapshot> blank(const Stream& stream) const;
  /// Like blank(), but it shares everything outside of layers, which must not be written while both live.
  std::shared_ptr<WeightSnapshot> with_layers(const Stream& stream) const;
  bool shares_ends() const { return ends_.use_count() > 1; }
  /// Where the packed copy of each tensor of the parameters is: in `matrix`, or in `values`.
  struct Part {
    TensorView from;
    kernels::PackedMatrix matrix;  // without memory where `values` holds the copy
    TensorView values;             // f32 as in the parameters
    bool turned = false;           // `from` is the transpose of the matrix
    /// On a GPU: the elements of `from` in its order, bf16 or f32.
    TensorView flat() const;
  };
  std::vector<Part> parts(const Parameters& parameters) const;
  /// Packs again in place, as make does. No thread may read the snapshot meanwhile.
  void repack(const Stream&, const Parameters&, uint32_t version, const FormedWeights& formed = {});

  /// clone: a copy in the stream's memory. assign: copies another snapshot of the same config and storage in
  /// place. Copies from page-locked memory are queued: the source must stay until the stream is synchronized.
  std::shared_ptr<WeightSnapshot> clone(const Stream& stream) const;
  void assign(const Stream& stream, const WeightSnapshot& from);

  uint32_t version = 0;
  ModelConfig config;
  DType storage = DType::kF32;
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;
  LayerWeights* by_layer = nullptr;  // asked before a layer is read; null: all are there
  std::vector<PackedLayer> layers;
  TensorView embedding;   // [V, C]; empty on the CPU if the head is tied: its rows are read instead
  TensorView final_norm;  // [C]
  kernels::PackedMatrix head;
  const TensorView& rope_table(int64_t layer) const { return tables_.of(config, layer); }
  int64_t bytes() const { return arena_.used() + ends_->used(); }
  /// All tensors of the layers [bytes] u8, and all others, padding included: snapshots of one config, storage, arithmetic and
  /// backend have one layout.
  std::vector<TensorView> blocks() const;
  Memory memory() const { return arena_.memory(); }

 private:
  WeightSnapshot(const Stream& stream, const ModelConfig& config, DType storage, kernels::Arithmetic arithmetic, Memory memory, bool one_layer = false);
  void take_ends(const Stream& stream, Memory memory);
  Arena arena_;
  std::shared_ptr<Arena> ends_;
  RopeTables tables_;
};

/// An expert's matrix of a layer's experts_gate_up or experts_down, packed as `of`; turned: [of.k, of.n].
TensorView matrix_of(const TensorView& all, size_t expert, const kernels::PackedMatrix& of, bool turned);
/// The parts of WeightSnapshot::parts for one layer, and those for what is outside of layers.
std::vector<WeightSnapshot::Part> layer_parts(const LayerViews& from, const PackedLayer& to);
std::vector<WeightSnapshot::Part> end_parts(const Parameters& from, const WeightSnapshot& to);
/// Makes the packed copy of `from`, which is part.from or stands for it.
void pack_part(const Stream& stream, const TensorView& from, const WeightSnapshot::Part& part);
/// On a GPU: packs a part whose `from` is in host memory, piece by piece through `room` [n] f32 in the
/// stream's memory, which must hold one row at least.
void pack_carried(const Stream& stream, const WeightSnapshot::Part& part, const TensorView& room);

}  // namespace hone::model
