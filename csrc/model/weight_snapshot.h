// A packed copy of the parameters, which forward and backward passes read. Trainer and engine share it.
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

/// Returns the values to pack in place of `from`, one of the parameters' matrices or vectors (such as W + s B
/// A): a view in the memory from which packs are made, valid until the next call. An empty view means that
/// the pack is up to date. Without a function, the parameters themselves are packed.
using FormedWeights = std::function<TensorView(const TensorView& from)>;

struct PackedLayer {
  kernels::PackedMatrix qkv, o, o_beside, gate_up, down;
  // f32 copies inside the snapshot
  TensorView attn_norm, attn_after, mlp_norm, mlp_after, qkv_bias, q_norm, k_norm, sinks, o_bias, router_bias{}, correction{}, scalar{};
  kernels::DeltaWeights delta;  // f32 copies inside the snapshot
  kernels::PackedMatrix router{}, shared_gate{};  // on the CPU always f32, as products with them are
  std::vector<kernels::PackedMatrix> experts_gate_up{}, experts_down{};  // one matrix per expert
  TensorView experts_gate_up_bias{}, experts_down_bias{};                // [E, 2F], [E, C] f32, or empty
  bool experts_turned = false;                                       // ExpertsConfig::turned
};

/// Bytes of snapshots in the stream's memory. ends: embedding, final norm and head; head: the part of `ends`
/// for the head's matrix (0 if it is the embedding). All snapshots of a config share the rope tables.
struct SnapshotBytes {
  int64_t layers = 0, ends = 0, head = 0, rope_tables = 0;
  int64_t tensors() const { return layers + ends; }
};
/// one_layer: for a snapshot from WeightSnapshot::of_one_layer. ends: WeightSnapshot::ends.
SnapshotBytes snapshot_bytes(const Stream& stream, const ModelConfig& config, DType storage, bool one_layer = false,
                             DType ends = DType::kF32);

/// Loads weights into a snapshot that has memory for one layer at a time.
class LayerWeights {
 public:
  virtual ~LayerWeights() = default;
  /// Loads layer i before a forward pass reads it; called for 0, 1, ...
  virtual void forward(int64_t i) = 0;
  /// Loads layer i before a backward pass reads it; called for L - 1, ..., 0.
  virtual void backward(int64_t i) = 0;
};

/// Rope tables: `common` for most layers, `sliding` for sliding layers with a theta of their own, `still` for
/// layers without rotary embedding; null if unused. Snapshots share them.
struct RopeTables {
  std::shared_ptr<const RopeTable> common, sliding, still;
  /// The rotary table that a layer uses.
  const TensorView& of(const ModelConfig& config, int64_t layer) const;
};

/// The packed weights of one version. An engine or a backward pass that reads it keeps it alive. Its tensors
/// lie in the memory of the stream that made it, and their addresses never change.
class WeightSnapshot {
 public:
  /// Packs (and copies) everything from `parameters`. storage kF32 or kBF16 (block matrices rounded to bf16; attention reads keys and
  /// values rounded to bf16, so that a cache of bf16 loses nothing). arithmetic: of products with block matrices, on the CPU. On a GPU
  /// block matrices and embedding are bf16 whatever `storage` says, and a tied head is the embedding. Throws kOutOfMemory.
  static std::shared_ptr<WeightSnapshot> make(const Stream& stream, const Parameters& parameters, uint32_t version,
                                              DType storage = DType::kF32, const FormedWeights& formed = {},
                                              kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32);
  /// A snapshot without contents. memory: the stream's, or kPinned for one that a GPU's engine will copy.
  static std::shared_ptr<WeightSnapshot> empty(const Stream&, const ModelConfig&, DType storage, kernels::Arithmetic, Memory, DType ends = DType::kF32);
  /// A snapshot without contents whose layers share one layer's memory. Throws kUnsupported if layers differ.
  static std::shared_ptr<WeightSnapshot> of_one_layer(const Stream&, const ModelConfig&, DType storage, kernels::Arithmetic = kernels::Arithmetic::kF32);
  /// Allocates a snapshot for another version, without contents, which shares only the rope tables.
  std::shared_ptr<WeightSnapshot> blank(const Stream& stream) const;
  /// Like blank(), but also shares embedding, final norm and head, which must then not be written.
  std::shared_ptr<WeightSnapshot> with_layers(const Stream& stream) const;
  bool shares_ends() const { return ends_.use_count() > 1; }
  /// The packed copy of one of the parameters' tensors: in `matrix`, or in `values`.
  struct Part {
    TensorView from;
    kernels::PackedMatrix matrix;  // without memory where `values` holds the copy
    TensorView values;             // f32 as in the parameters, or bf16: an embedding on the CPU
    bool turned = false;           // `from` is the transpose of the matrix
    /// On a GPU: the packed elements as one vector, bf16 or f32, in the order of `from`.
    TensorView flat() const;
  };
  std::vector<Part> parts(const Parameters& parameters) const;
  /// Packs `parameters` into this snapshot as make() does. No thread may read the snapshot meanwhile.
  void repack(const Stream&, const Parameters&, uint32_t version, const FormedWeights& formed = {});

  /// clone: a copy in the stream's memory. assign: copies a snapshot of equal config and storage into this
  /// one. Copies from page-locked memory are queued: the source must stay until the stream is synchronized.
  std::shared_ptr<WeightSnapshot> clone(const Stream& stream) const;
  void assign(const Stream& stream, const WeightSnapshot& from);

  uint32_t version = 0;
  ModelConfig config;
  DType storage = DType::kF32;
  kernels::Arithmetic arithmetic = kernels::Arithmetic::kF32;
  /// On the CPU, of embedding and head: as the parameters are stored, so that bf16 represents their values exactly. Products
  /// widen them and are in f32, so that no bit of a result depends on this.
  DType ends = DType::kF32;
  LayerWeights* by_layer = nullptr;  // asked before a layer is read; null: all are there
  std::vector<PackedLayer> layers;
  TensorView embedding;   // [V, C] f32 or bf16; empty on the CPU if the head is tied: its rows are read instead
  TensorView final_norm;  // [C]
  kernels::PackedMatrix head;
  const TensorView& rope_table(int64_t layer) const { return tables_.of(config, layer); }
  int64_t bytes() const { return arena_.used() + ends_->used(); }
  /// All tensors of the layers [bytes] u8, and all others, padding included: snapshots of one config, storage, arithmetic,
  /// backend and `ends` have one layout.
  std::vector<TensorView> blocks() const;
  Memory memory() const { return arena_.memory(); }

 private:
  WeightSnapshot(const Stream&, const ModelConfig& config, DType storage, kernels::Arithmetic, Memory, DType ends, bool one_layer = false);
  void take_ends(const Stream& stream, Memory memory);
  Arena arena_;
  std::shared_ptr<Arena> ends_;
  RopeTables tables_;
};

/// One expert's matrix in a layer's experts_gate_up or experts_down, of the shape of the packed matrix `of`,
/// or [of.k, of.n] if turned.
TensorView matrix_of(const TensorView& all, size_t expert, const kernels::PackedMatrix& of, bool turned);
/// The WeightSnapshot::parts of one layer (layer_parts), and those outside of layers (end_parts).
std::vector<WeightSnapshot::Part> layer_parts(const LayerViews& from, const PackedLayer& to);
std::vector<WeightSnapshot::Part> end_parts(const Parameters& from, const WeightSnapshot& to);
/// Packs `from` (part.from, or values in its place) into the copy that `part` describes.
void pack_part(const Stream& stream, const TensorView& from, const WeightSnapshot::Part& part);
/// On a GPU: packs a part whose `from` is in host memory, piece by piece through `room` [n] f32 in the
/// stream's memory; `room` must hold at least one row.
void pack_carried(const Stream& stream, const WeightSnapshot::Part& part, const TensorView& room);

}  // namespace hone::model
