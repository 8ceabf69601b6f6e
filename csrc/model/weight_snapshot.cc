#include "model/weight_snapshot.h"

#include <cstring>

namespace hone::model {
namespace {

using kernels::PackedMatrix;

int64_t f32_bytes(int64_t n) { return Arena::rounded(n * int64_t(sizeof(float))); }

int64_t snapshot_bytes(const Stream& stream, const ModelConfig& c, DType storage) {
  const int64_t layer = Arena::rounded(kernels::packed_bytes(stream, c.qkv_width(), c.width, storage)) +
                        Arena::rounded(kernels::packed_bytes(stream, c.width, c.q_width(), storage)) +
                        Arena::rounded(kernels::packed_bytes(stream, 2 * c.mlp_width, c.width, storage)) +
                        Arena::rounded(kernels::packed_bytes(stream, c.width, c.mlp_width, storage)) +
                        2 * f32_bytes(c.width) + (c.qkv_bias ? f32_bytes(c.qkv_width()) : 0) +
                        (c.qk_norm ? 2 * f32_bytes(c.head_dim) : 0);
  return c.layers * layer + f32_bytes(c.vocabulary * c.width) + f32_bytes(c.width) +
         Arena::rounded(kernels::packed_bytes(stream, c.vocabulary, c.width, DType::kF32));
}

PackedMatrix pack(const Stream& stream, const TensorView& w, DType storage, Arena& arena) {
  PackedMatrix out{w.dim(0), w.dim(1), storage, nullptr};
  out.panels = arena.take(kernels::packed_bytes(stream, out.n, out.k, storage));
  kernels::pack_matrix(stream, {.w = w, .transpose = false, .out = out});
  return out;
}

TensorView copy(const TensorView& from, Arena& arena) {
  if (from.empty()) return {};
  TensorView to = from;
  to.data = arena.take(from.numel() * int64_t(sizeof(float)));
  std::memcpy(to.data, from.data, size_t(from.numel()) * sizeof(float));
  return to;
}

}  // namespace

std::shared_ptr<const WeightSnapshot> WeightSnapshot::make(const Stream& stream, const Parameters& parameters,
                                                           uint32_t version, DType storage,
                                                           const WeightSnapshot* previous) {
  std::shared_ptr<WeightSnapshot> out(new WeightSnapshot());
  const ModelConfig& config = parameters.config();
  out->version = version;
  out->config = config;
  out->storage = storage;
  out->arena_ = Arena(snapshot_bytes(stream, config, storage), "weight snapshot");
  Arena& arena = out->arena_;
  out->layers.reserve(size_t(config.layers));
  for (int64_t i = 0; i < config.layers; ++i) {
    const LayerViews& from = parameters.layer(i);
    out->layers.push_back({.qkv = pack(stream, from.qkv, storage, arena),
                           .o = pack(stream, from.o, storage, arena),
                           .gate_up = pack(stream, from.gate_up, storage, arena),
                           .down = pack(stream, from.down, storage, arena),
                           .attn_norm = copy(from.attn_norm, arena),
                           .mlp_norm = copy(from.mlp_norm, arena),
                           .qkv_bias = copy(from.qkv_bias, arena),
                           .q_norm = copy(from.q_norm, arena),
                           .k_norm = copy(from.k_norm, arena)});
  }
  out->embedding = copy(parameters.embedding(), arena);
  out->final_norm = copy(parameters.final_norm(), arena);
  out->head = pack(stream, parameters.head(), DType::kF32, arena);
  out->rope_ = previous ? previous->rope_
                        : RopeTable::make(stream, config.rope, config.head_dim, config.max_positions);
  out->rope_table = out->rope_->view();
  return out;
}

}  // namespace hone::model
