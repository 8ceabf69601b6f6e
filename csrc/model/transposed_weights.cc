// Matrices turned for the backward, which multiplies gradients by them.
#include "model/network.h"

namespace hone::model {
namespace {

using kernels::PackedMatrix;

/// Stored and multiplied as `packed` is. turned: w is the transpose already.
PackedMatrix pack_transposed(const Stream& stream, const TensorView& w, const PackedMatrix& packed, bool turned, Arena& arena) {
  PackedMatrix out{packed.k, packed.n, packed.storage, nullptr, false, packed.arithmetic};
  out.panels = arena.take(kernels::packed_bytes(stream, out.n, out.k, out.storage));
  kernels::pack_matrix(stream, {.w = w, .transpose = !turned, .out = out});
  return out;
}

/// All matrices of a layer, each turned by turn(matrix, its pack, whether it lies turned).
template <class Turn>
TransposedWeights::Layer turned_layer(const LayerViews& from, const PackedLayer& packed, const Turn& turn) {
  const auto if_there = [&](const TensorView& w, const PackedMatrix& as) { return as.n > 0 ? turn(w, as, false) : PackedMatrix{}; };
  const bool turned = packed.experts_turned;
  TransposedWeights::Layer out{.qkv = turn(from.qkv, packed.qkv, false),
                               .o = turn(from.o, packed.o, false),
                               .gate_up = if_there(from.gate_up, packed.gate_up),
                               .down = if_there(from.down, packed.down),
                               .experts = {.router = if_there(from.router, packed.router), .shared_gate = if_there(from.shared_gate, packed.shared_gate), .gate_up = {}, .down = {}}};
  for (size_t e = 0; e < packed.experts_gate_up.size(); ++e) {
    const PackedMatrix &gate_up = packed.experts_gate_up[e], &down = packed.experts_down[e];
    out.experts.gate_up.push_back(turn(matrix_of(from.experts_gate_up, e, gate_up, turned), gate_up, turned));
    out.experts.down.push_back(turn(matrix_of(from.experts_down, e, down, turned), down, turned));
  }
  return out;
}

}  // namespace

TransposedWeights transpose_weights(const Stream& stream, const Parameters& parameters, const WeightSnapshot& weights,
                                    Arena& arena, const FormedWeights& formed) {
  const auto turn = [&](const TensorView& master, const PackedMatrix& packed, bool turned) {
    if (stream.is_cuda()) return PackedMatrix{packed.k, packed.n, packed.storage, packed.panels, true};
    return pack_transposed(stream, formed ? formed(master) : master, packed, turned, arena);
  };
  TransposedWeights out;
  for (int64_t l = 0; l < parameters.config().layers; ++l) {
    out.layers.push_back(turned_layer(parameters.layer(l), weights.layers[size_t(l)], turn));
  }
  out.head = turn(parameters.head(), weights.head, false);
  return out;
}

TransposedWeights::Layer transpose_layer(const Stream& stream, const LayerViews& from, const PackedLayer& packed, Arena& arena) {
  return turned_layer(from, packed, [&](const TensorView& w, const PackedMatrix& as, bool turned) { return pack_transposed(stream, w, as, turned, arena); });
}

PackedMatrix transpose_head(const Stream& stream, const Parameters& parameters, const WeightSnapshot& weights, Arena& arena) {
  return pack_transposed(stream, parameters.head(), weights.head, false, arena);
}

int64_t transposed_bytes(const Stream& stream, const ModelConfig& c, DType storage, bool one_layer) {
  if (stream.is_cuda()) return 0;
  const auto bytes = [&](int64_t n, int64_t k, DType kept) {
    return Arena::rounded(kernels::packed_bytes(stream, n, k, kept));
  };
  int64_t layers = 0;
  for (int64_t l = 0; l < (one_layer ? 1 : c.layers); ++l) {
    layers += bytes(c.width, c.in_width(l), storage) + bytes(c.mixed_width(l), c.width, storage);
    if (const int64_t F = c.mlp_width_of(l)) layers += bytes(c.width, 2 * F, storage) + bytes(F, c.width, storage);
    if (!c.mixes(l)) continue;
    const ExpertsConfig& e = c.experts;
    if (e.shared_gate) layers += bytes(c.width, 1, DType::kF32);
    layers += bytes(c.width, e.count, DType::kF32) + e.count * (bytes(c.width, 2 * e.width, storage) + bytes(e.width, c.width, storage));
  }
  return layers + bytes(c.width, c.vocabulary, DType::kF32);
}

}  // namespace hone::model
