// Transposes weight matrices, by which the backward multiplies gradients.
#include <algorithm>

#include "model/network.h"

namespace hone::model {
namespace {

using kernels::PackedMatrix;

/// Bytes that transpose_layer takes from the arena for layer l on the CPU.
int64_t turned_layer_bytes(const Stream& stream, const ModelConfig& c, DType storage, int64_t l) {
  const auto bytes = [&](int64_t n, int64_t k, DType kept) { return Arena::rounded(kernels::packed_bytes(stream, n, k, kept)); };
  int64_t sum = bytes(c.width, c.in_width(l), storage) + bytes(c.mixed_width(l), c.width, storage) + bytes(c.beside_width(l), c.width, storage);
  if (const int64_t F = c.mlp_width_of(l)) sum += bytes(c.width, c.gate_up_width(F), storage) + bytes(F, c.width, storage);
  if (!c.mixes(l)) return sum;
  const ExpertsConfig& e = c.experts;
  if (e.shared_gate) sum += bytes(c.width, 1, DType::kF32);
  return sum + bytes(c.width, e.count, DType::kF32) + e.count * (bytes(c.width, c.gate_up_width(e.width), storage) + bytes(e.width, c.width, storage));
}

PackedMatrix transpose_matrix(const Stream& stream, const PackedMatrix& packed, Arena& arena) {
  if (packed.n == 0) return {};
  if (stream.is_cuda()) return {packed.k, packed.n, packed.storage, packed.panels, !packed.transposed};
  PackedMatrix out{packed.k, packed.n, packed.storage, nullptr, false, packed.arithmetic};
  out.panels = arena.take(kernels::packed_bytes(stream, out.n, out.k, out.storage));
  kernels::transpose_packed(stream, packed, out);
  return out;
}

}  // namespace

TransposedLayer transpose_layer(const Stream& stream, const PackedLayer& packed, Arena& arena) {
  const auto turn = [&](const PackedMatrix& matrix) { return transpose_matrix(stream, matrix, arena); };
  TransposedLayer out{.qkv = turn(packed.qkv),
                      .o = turn(packed.o),
                      .o_beside = turn(packed.o_beside),
                      .gate_up = turn(packed.gate_up),
                      .down = turn(packed.down),
                      .experts = {.router = turn(packed.router), .shared_gate = turn(packed.shared_gate), .gate_up = {}, .down = {}}};
  for (const PackedMatrix& expert : packed.experts_gate_up) out.experts.gate_up.push_back(turn(expert));
  for (const PackedMatrix& expert : packed.experts_down) out.experts.down.push_back(turn(expert));
  return out;
}

int64_t transposed_layer_bytes(const Stream& stream, const ModelConfig& c, DType storage) {
  int64_t most = 0;
  for (int64_t l = 0; l < c.layers && !stream.is_cuda(); ++l) most = std::max(most, turned_layer_bytes(stream, c, storage, l));
  return most;
}

PackedMatrix transposed_head(const Stream& stream, const WeightSnapshot& weights, const Parameters& parameters) {
  const PackedMatrix& head = weights.head;
  if (stream.is_cuda()) return {head.k, head.n, head.storage, head.panels, true};
  const TensorView rows = parameters.head();
  return {head.k, head.n, rows.dtype, rows.data, true};
}

}  // namespace hone::model
