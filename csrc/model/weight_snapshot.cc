#include "model/weight_snapshot.h"

#include <algorithm>
#include <utility>

#include "core/device.h"
#include "kernels/cast.h"

namespace hone::model {
namespace {

using kernels::Arithmetic;
using kernels::PackedMatrix;

/// Of the embedding's elements.
DType table_dtype(const Stream& stream, DType ends) { return stream.is_cuda() ? activation_dtype(stream) : ends; }

/// Bytes of the embedding and of the head. If they are tied only one is kept: on a GPU the table, which is a
/// packed matrix there; on the CPU the packed matrix, whose rows can be read.
struct EndBytes {
  int64_t embedding, head;
};
EndBytes end_bytes(const Stream& stream, const ModelConfig& c, DType ends) {
  const int64_t table = Arena::view_bytes(table_dtype(stream, ends), c.vocabulary * c.width);
  const int64_t head = Arena::rounded(kernels::packed_bytes(stream, c.vocabulary, c.width, ends));
  if (!c.tied_head) return {table, head};
  return stream.is_cuda() ? EndBytes{table, 0} : EndBytes{0, head};
}

/// Of the matrices whose products are in f32 on the CPU whatever `storage` says: those of the router and of the shared MLP's gate.
DType router_dtype(const Stream& stream) { return stream.is_cuda() ? DType::kBF16 : DType::kF32; }

/// Takes memory for a matrix; takes none if it has no rows. turned: the parameters have its transpose, whose rows a GPU keeps.
PackedMatrix take_matrix(const Stream& stream, int64_t n, int64_t k, DType storage, Arithmetic arithmetic, Arena& arena, bool turned = false) {
  if (n == 0) return {};
  PackedMatrix out{n, k, storage, nullptr, turned && stream.is_cuda(), arithmetic, true};
  out.panels = arena.take(kernels::packed_bytes(stream, n, k, storage));
  return out;
}

kernels::DeltaWeights take_delta(const kernels::DeltaSizes& s, Arena& arena) {
  const TensorView conv = arena.take_view(DType::kF32, {s.channels(), s.taps});
  if (s.is_convolution()) return {.conv = conv, .decay = {}, .dt = {}, .norm = {}};
  kernels::DeltaWeights out{.conv = conv,
                            .decay = arena.take_view(DType::kF32, {s.value_heads}),
                            .dt = arena.take_view(DType::kF32, {s.value_heads}),
                            .norm = s.norm_width() > 0 ? arena.take_view(DType::kF32, {s.norm_width()}) : TensorView{}};
  if (s.mamba) out.conv_bias = arena.take_view(DType::kF32, {s.channels()}), out.skip = arena.take_view(DType::kF32, {s.value_heads});
  return out;
}

/// Bytes of a layer's weights, which depend on its kind of attention and on whether it has experts.
int64_t layer_bytes(const Stream& stream, const ModelConfig& c, DType storage, int64_t layer) {
  const auto packed = [&](int64_t n, int64_t k, DType type) { return Arena::rounded(kernels::packed_bytes(stream, n, k, type)); };
  const auto floats = [](int64_t n) { return Arena::view_bytes(DType::kF32, n); };
  int64_t bytes = packed(c.in_width(layer), c.width, storage) + packed(c.width, c.mixed_width(layer), storage) + packed(c.width, c.beside_width(layer), storage) +
                  (int(c.norms_before() && c.mixes_tokens(layer)) + int(c.norms_mlp() && c.has_mlp(layer))) * floats(c.width) + (c.norms_after() ? 2 : 0) * floats(c.width);
  if (c.is_linear(layer)) {
    bytes += floats(c.delta.channels() * c.delta.taps) + (c.delta.is_convolution() ? 0 : 2 * floats(c.delta.value_heads) + floats(c.delta.norm_width())) +
             (c.delta.mamba ? floats(c.delta.channels()) + floats(c.delta.value_heads) : 0);
  }
  if (c.attends(layer)) {
    bytes += (c.qkv_bias ? floats(c.qkv_width()) : 0) + (c.sinks ? floats(c.heads) : 0) + (c.o_bias ? floats(c.width) : 0) + (c.qk_norm ? floats(c.q_norm_width(layer)) + floats(c.k_norm_width(layer)) : 0);
  }
  if (c.layer_scalars) bytes += floats(1);
  if (const int64_t F = c.mlp_width_of(layer)) bytes += packed(c.gate_up_width(F), c.width, storage) + packed(c.width, F, storage);
  if (!c.mixes(layer)) return bytes;
  const ExpertsConfig& e = c.experts;
  return bytes + packed(e.count, c.width, router_dtype(stream)) + (e.correction ? floats(e.count) : 0) +
         (e.shared_gate ? packed(1, c.width, router_dtype(stream)) : 0) +
         (e.biases ? floats(e.count) + floats(e.count * 2 * e.width) + floats(e.count * c.width) : 0) +
         e.count * (packed(c.gate_up_width(e.width), c.width, storage) + packed(c.width, e.width, storage));
}

/// How a layer's matrices are stored and multiplied.
struct Kept {
  DType storage;
  Arithmetic arithmetic;
};

void take_experts(const Stream& stream, const ModelConfig& c, const Kept& as, PackedLayer& layer, Arena& arena) {
  const ExpertsConfig& e = c.experts;
  layer.router = take_matrix(stream, e.count, c.width, router_dtype(stream), Arithmetic::kF32, arena);
  if (e.shared_gate) layer.shared_gate = take_matrix(stream, 1, c.width, router_dtype(stream), Arithmetic::kF32, arena);
  if (e.correction) layer.correction = arena.take_view(DType::kF32, {e.count});
  if (e.biases) {
    layer.router_bias = arena.take_view(DType::kF32, {e.count});
    layer.experts_gate_up_bias = arena.take_view(DType::kF32, {e.count, 2 * e.width});
    layer.experts_down_bias = arena.take_view(DType::kF32, {e.count, c.width});
  }
  layer.experts_turned = e.turned;
  for (int64_t i = 0; i < e.count; ++i) {
    layer.experts_gate_up.push_back(take_matrix(stream, c.gate_up_width(e.width), c.width, as.storage, as.arithmetic, arena, e.turned));
    layer.experts_down.push_back(take_matrix(stream, c.width, e.width, as.storage, as.arithmetic, arena, e.turned));
  }
}

PackedLayer take_layer(const Stream& stream, const ModelConfig& c, int64_t i, const Kept& as, Arena& arena) {
  const auto matrix = [&](int64_t n, int64_t k) { return take_matrix(stream, n, k, as.storage, as.arithmetic, arena); };
  const auto floats = [&](int64_t n, bool wanted = true) { return wanted ? arena.take_view(DType::kF32, {n}) : TensorView{}; };
  const int64_t F = c.mlp_width_of(i);
  const bool attends = c.attends(i);
  PackedLayer out{.qkv = matrix(c.in_width(i), c.width),
                  .o = matrix(c.mixes_tokens(i) ? c.width : 0, c.mixed_width(i)),
                  .o_beside = matrix(c.has_beside(i) ? c.width : 0, c.beside_width(i)),
                  .gate_up = matrix(c.gate_up_width(F), c.width),
                  .down = matrix(F ? c.width : 0, F),
                  .attn_norm = floats(c.width, c.norms_before() && c.mixes_tokens(i)),
                  .attn_after = floats(c.width, c.norms_after()),
                  .mlp_norm = floats(c.width, c.norms_mlp() && c.has_mlp(i)),
                  .mlp_after = floats(c.width, c.norms_after()),
                  .qkv_bias = floats(c.qkv_width(), c.qkv_bias && attends),
                  .q_norm = floats(c.q_norm_width(i), c.qk_norm && attends),
                  .k_norm = floats(c.k_norm_width(i), c.qk_norm && attends),
                  .sinks = floats(c.heads, c.sinks && attends),
                  .o_bias = floats(c.width, c.o_bias && attends),
                  .delta = c.is_linear(i) ? take_delta(c.delta, arena) : kernels::DeltaWeights{}};
  if (c.layer_scalars) out.scalar = arena.take_view(DType::kF32, {1});
  if (c.mixes(i)) take_experts(stream, c, as, out, arena);
  return out;
}

/// A layer's tensor that is allocated first: without attention its MLP's first matrix, or its norm.
void* first_of(const PackedLayer& layer) { return layer.qkv.n > 0 ? layer.qkv.panels : layer.gate_up.n > 0 ? layer.gate_up.panels : layer.mlp_norm.data; }

RopeTables make_tables(const Stream& stream, const ModelConfig& c) {
  RopeTables out{.common = RopeTable::make(stream, c.rope, c.rotary_dim(), c.max_positions), .sliding = nullptr, .still = nullptr};
  if (c.sliding_theta > 0.0) {
    RopeConfig sliding;
    sliding.theta = c.sliding_theta;
    out.sliding = RopeTable::make(stream, sliding, c.sliding_rotary_dim(), c.max_positions);
  }
  if (!c.rotated_layers.empty()) out.still = RopeTable::still(stream, c.max_positions);
  return out;
}

}  // namespace

SnapshotBytes snapshot_bytes(const Stream& stream, const ModelConfig& c, DType storage, bool one_layer, DType ends) {
  if (stream.is_cuda()) storage = DType::kBF16;
  int64_t layers = 0;
  for (int64_t l = 0; l < (one_layer ? 1 : c.layers); ++l) layers += layer_bytes(stream, c, storage, l);
  const auto [embedding, head] = end_bytes(stream, c, ends);
  const int64_t rows = rope_table_bytes(c.rotary_dim(), c.max_positions), sliding = rope_table_bytes(c.sliding_rotary_dim(), c.max_positions);
  const int64_t still = c.rotated_layers.empty() ? 0 : rope_table_bytes(2, c.max_positions);
  return {layers, embedding + Arena::view_bytes(DType::kF32, c.width) + head, head, rows + (c.sliding_theta > 0.0 ? sliding : 0) + still};
}

WeightSnapshot::WeightSnapshot(const Stream& stream, const ModelConfig& c, DType kept, Arithmetic products, Memory memory, DType kept_ends, bool one_layer)
    : config(c), storage(stream.is_cuda() ? DType::kBF16 : kept), arithmetic(stream.is_cuda() ? Arithmetic::kF32 : products), ends(kept_ends) {
  const SnapshotBytes sizes = snapshot_bytes(stream, c, kept, one_layer);
  arena_ = Arena(sizes.layers, "weight snapshot", memory);
  layers.reserve(size_t(c.layers));
  for (int64_t i = 0; i < (one_layer ? 1 : c.layers); ++i) layers.push_back(take_layer(stream, c, i, {storage, arithmetic}, arena_));
  layers.resize(size_t(c.layers), layers.front());
}

void WeightSnapshot::take_ends(const Stream& stream, Memory memory) {
  const auto [embedding_bytes, head_bytes] = end_bytes(stream, config, ends);
  ends_ = std::make_shared<Arena>(snapshot_bytes(stream, config, storage, false, ends).ends, "weight snapshot", memory);
  if (embedding_bytes > 0) embedding = ends_->take_view(table_dtype(stream, ends), {config.vocabulary, config.width});
  final_norm = ends_->take_view(DType::kF32, {config.width});
  if (head_bytes > 0) head = take_matrix(stream, config.vocabulary, config.width, ends, Arithmetic::kF32, *ends_);
  else head = {config.vocabulary, config.width, DType::kBF16, embedding.data};
}

std::shared_ptr<WeightSnapshot> WeightSnapshot::make(const Stream& stream, const Parameters& parameters,
                                                     uint32_t version, DType storage,
                                                     const FormedWeights& formed, Arithmetic arithmetic) {
  std::shared_ptr<WeightSnapshot> out = empty(stream, parameters.config(), storage, arithmetic, tensor_memory(stream), parameters.dtype());
  out->repack(stream, parameters, version, formed);
  return out;
}

std::shared_ptr<WeightSnapshot> WeightSnapshot::empty(const Stream& stream, const ModelConfig& config, DType storage, Arithmetic arithmetic, Memory memory, DType ends) {
  std::shared_ptr<WeightSnapshot> out(new WeightSnapshot(stream, config, storage, arithmetic, memory, ends));
  out->take_ends(stream, memory);
  out->tables_ = make_tables(stream, config);
  return out;
}

std::shared_ptr<WeightSnapshot> WeightSnapshot::of_one_layer(const Stream& stream, const ModelConfig& config, DType storage, Arithmetic arithmetic) {
  if (config.mixes_in_part() || config.full_head_dim > 0) {
    fail(Code::kUnsupported, "%s: ranks that divide the weights keep one layer at a time, and some of its layers have experts or larger heads, some not; divide gradients or moments alone.", config.arch.c_str());
  }
  std::shared_ptr<WeightSnapshot> out(new WeightSnapshot(stream, config, storage, arithmetic, tensor_memory(stream), DType::kF32, true));
  out->take_ends(stream, tensor_memory(stream));
  out->tables_ = make_tables(stream, config);
  return out;
}

const TensorView& RopeTables::of(const ModelConfig& config, int64_t layer) const {
  if (!config.rotates(layer)) return still->view();
  return (sliding && config.slides(layer) ? sliding : common)->view();
}

TensorView WeightSnapshot::Part::flat() const {
  if (!matrix.panels) return values;
  return {matrix.panels, matrix.storage, {matrix.n * matrix.k}};
}

TensorView matrix_of(const TensorView& all, size_t expert, const PackedMatrix& of, bool turned) {
  const int64_t rows = turned ? of.k : of.n, columns = turned ? of.n : of.k;
  return {all.as<std::byte>() + int64_t(expert) * rows * all.row_stride * dtype_bytes(all.dtype), all.dtype, {rows, columns}};
}

std::vector<WeightSnapshot::Part> layer_parts(const LayerViews& from, const PackedLayer& to) {
  std::vector<WeightSnapshot::Part> out;
  if (to.qkv.n > 0) out.push_back({from.qkv, to.qkv, {}}), out.push_back({from.o, to.o, {}});
  if (to.o_beside.n > 0) out.push_back({from.o_beside, to.o_beside, {}});
  if (to.gate_up.n > 0) out.push_back({from.gate_up, to.gate_up, {}}), out.push_back({from.down, to.down, {}});
  if (to.router.n > 0) out.push_back({from.router, to.router, {}});
  if (to.shared_gate.n > 0) out.push_back({from.shared_gate, to.shared_gate, {}});
  for (size_t e = 0; e < to.experts_gate_up.size(); ++e) {
    const bool turned = to.experts_turned;
    out.push_back({matrix_of(from.experts_gate_up, e, to.experts_gate_up[e], turned), to.experts_gate_up[e], {}, turned});
    out.push_back({matrix_of(from.experts_down, e, to.experts_down[e], turned), to.experts_down[e], {}, turned});
  }
  const std::pair<TensorView, TensorView> vectors[] = {
      {from.attn_norm, to.attn_norm}, {from.attn_after, to.attn_after}, {from.mlp_norm, to.mlp_norm}, {from.mlp_after, to.mlp_after},
      {from.qkv_bias, to.qkv_bias},   {from.q_norm, to.q_norm},         {from.k_norm, to.k_norm},     {from.delta.conv, to.delta.conv},
      {from.delta.decay, to.delta.decay}, {from.delta.dt, to.delta.dt}, {from.delta.norm, to.delta.norm}, {from.delta.conv_bias, to.delta.conv_bias}, {from.delta.skip, to.delta.skip}, {from.correction, to.correction},
      {from.scalar, to.scalar}, {from.sinks, to.sinks}, {from.o_bias, to.o_bias}, {from.router_bias, to.router_bias},
      {from.experts_gate_up_bias, to.experts_gate_up_bias}, {from.experts_down_bias, to.experts_down_bias}};
  for (const auto& [vector, copy] : vectors) {
    if (!copy.empty()) out.push_back({vector, {}, copy});
  }
  return out;
}

std::vector<WeightSnapshot::Part> end_parts(const Parameters& from, const WeightSnapshot& to) {
  std::vector<WeightSnapshot::Part> out;
  const TensorView table = from.embedding();
  const bool matrix = !to.embedding.empty() && to.embedding.dtype != to.ends;  // on a GPU
  if (matrix) out.push_back({table, {table.dim(0), table.dim(1), to.embedding.dtype, to.embedding.data}, {}});
  else if (!to.embedding.empty()) out.push_back({table, {}, to.embedding});
  out.push_back({from.final_norm(), {}, to.final_norm});
  if (to.head.panels != to.embedding.data) out.push_back({from.head(), to.head, {}});
  return out;
}

std::vector<WeightSnapshot::Part> WeightSnapshot::parts(const Parameters& parameters) const {
  std::vector<Part> out;
  for (int64_t i = 0; i < config.layers; ++i) {
    const std::vector<Part> layer = layer_parts(parameters.layer(i), layers[size_t(i)]);
    out.insert(out.end(), layer.begin(), layer.end());
  }
  const std::vector<Part> ends = end_parts(parameters, *this);
  out.insert(out.end(), ends.begin(), ends.end());
  return out;
}

void pack_part(const Stream& stream, const TensorView& from, const WeightSnapshot::Part& part) {
  if (part.matrix.panels) kernels::pack_matrix(stream, {.w = from, .transpose = part.turned, .out = part.matrix});
  else if (from.dtype != part.values.dtype) kernels::cast(stream, {.from = from, .to = part.values});
  else copy_rows(stream, from, part.values);
}

void pack_carried(const Stream& stream, const WeightSnapshot::Part& part, const TensorView& room) {
  const PackedMatrix& to = part.matrix;
  if (!to.panels) return upload(stream, part.values.data, part.from.data, part.from.numel() * int64_t(sizeof(float)));
  const int64_t height = part.from.dim(0), width = part.from.dim(1), rows = std::max<int64_t>(1, room.numel() / width);
  for (int64_t row = 0; row < height; row += rows) {
    const int64_t count = std::min(rows, height - row);
    upload(stream, room.data, part.from.row<float>(row), count * width * int64_t(sizeof(float)));
    const PackedMatrix piece{count, width, to.storage, static_cast<std::byte*>(to.panels) + row * width * dtype_bytes(to.storage)};
    kernels::pack_matrix(stream, {.w = f32(room.as<float>(), {count, width}), .transpose = false, .out = piece});
  }
}

void WeightSnapshot::repack(const Stream& stream, const Parameters& parameters, uint32_t v, const FormedWeights& formed) {
  version = v;
  for (const Part& part : parts(parameters)) {
    const TensorView from = formed ? formed(part.from) : part.from;
    if (!from.empty()) pack_part(stream, from, part);
  }
}

std::shared_ptr<WeightSnapshot> WeightSnapshot::blank(const Stream& stream) const {
  const std::shared_ptr<WeightSnapshot> out = with_layers(stream);
  out->take_ends(stream, tensor_memory(stream));
  return out;
}

std::shared_ptr<WeightSnapshot> WeightSnapshot::with_layers(const Stream& stream) const {
  std::shared_ptr<WeightSnapshot> out(new WeightSnapshot(stream, config, storage, arithmetic, tensor_memory(stream), ends));
  out->ends_ = ends_;
  out->embedding = embedding, out->final_norm = final_norm, out->head = head;
  out->tables_ = tables_;
  return out;
}

std::shared_ptr<WeightSnapshot> WeightSnapshot::clone(const Stream& stream) const {
  std::shared_ptr<WeightSnapshot> out = blank(stream);
  out->assign(stream, *this);
  return out;
}

void WeightSnapshot::assign(const Stream& stream, const WeightSnapshot& from) {
  if (from.bytes() != bytes() || from.storage != storage || from.arithmetic != arithmetic || from.ends != ends) {
    fail(Code::kConfig, "weights: %lld bytes of another layout cannot take the place of %lld.", (long long)from.bytes(),
         (long long)bytes());
  }
  version = from.version;
  const std::vector<TensorView> to = blocks(), read = from.blocks();
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i].data == read[i].data) continue;  // shared by both snapshots
    if (stream.is_cuda() && from.memory() == Memory::kPinned) upload(stream, to[i].data, read[i].data, to[i].numel());
    else copy(stream, to[i].data, read[i].data, to[i].numel());
  }
}

// A block begins with the tensor that is allocated first: that of the first layer; the embedding or, without one, the final norm.
std::vector<TensorView> WeightSnapshot::blocks() const {
  return {{first_of(layers.front()), DType::kU8, {arena_.used()}},
          {embedding.empty() ? final_norm.data : embedding.data, DType::kU8, {ends_->used()}}};
}

}  // namespace hone::model
