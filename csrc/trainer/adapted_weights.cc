#include "trainer/adapted_weights.h"

#include <algorithm>

#include "core/device.h"
#include "kernels/cast.h"
#include "kernels/rounding.h"

namespace hone::trainer {

using model::ExpertProduct;
using model::Product;

namespace {

/// Copies f32 or bf16 rows to f32.
void copy_as_f32(const Stream& stream, const TensorView& from, const TensorView& to) {
  if (from.dtype == DType::kF32) return copy_rows(stream, from, to);
  const auto rows = [](const TensorView& view) { return TensorView(view.data, view.dtype, {view.dim(0), view.numel() / view.dim(0)}); };
  kernels::cast(stream, {.from = rows(from), .to = rows(to)});
}

}  // namespace

AdaptedWeights::AdaptedWeights(const Stream& stream, model::Parameters& base, model::Adapters& adapters)
    : stream_(stream),
      base_(base),
      adapters_(adapters),
      scratch_(forming_bytes(stream, base.config(), adapters.config()), "adapted weights", tensor_memory(stream)) {
  for (int64_t l = 0; l < base_.config().layers; ++l) {
    const model::LayerViews& layer = base_.layer(l);
    const std::pair<TensorView, Product> products[] = {
        {layer.qkv, Product::kQkv}, {layer.o, Product::kO}, {layer.gate_up, Product::kGateUp}, {layer.down, Product::kDown}};
    for (const auto& [matrix, product] : products) {
      if (!adapters_.changes(l, product)) continue;
      changed_[place(matrix)] = [this, l, product = product](const TensorView& w, Arena& scratch) { adapters_.add(stream_, l, product, w, scratch); };
    }
    find_experts(l);
  }
}

void AdaptedWeights::find_experts(int64_t l) {
  const model::LayerViews& layer = base_.layer(l);
  const int64_t experts = base_.config().experts.count;
  const std::pair<TensorView, ExpertProduct> products[] = {{layer.experts_gate_up, ExpertProduct::kGateUp}, {layer.experts_down, ExpertProduct::kDown}};
  for (const auto& [matrices, product] : products) {
    for (int64_t e = 0; e < experts && adapters_.changes(l, product); ++e) {
      const int64_t first = place(matrices) + e * (matrices.numel() / experts);
      changed_[first] = [this, l, e, product = product](const TensorView& w, Arena& scratch) {
        adapters_.add(stream_, l, product, e, w, scratch);
      };
    }
  }
}

void AdaptedWeights::base_changed() {
  whole_ = true;
  if (!stream_.is_cuda()) base_.store_as(DType::kBF16);
}

int64_t AdaptedWeights::place(const TensorView& from) const {
  return (from.as<std::byte>() - base_.flat().as<std::byte>()) / dtype_bytes(from.dtype);
}

/// An f32 buffer shaped like `from` in the stream's memory, with `extra` bytes of scratch left.
TensorView AdaptedWeights::room(const TensorView& from, int64_t extra) {
  const int64_t bytes = Arena::rounded(from.numel() * int64_t(sizeof(float)));
  Arena* arena = &scratch_;
  if (bytes + extra > scratch_.capacity()) {
    synchronize(stream_);  // waits until no kernel reads large_
    large_ = Arena();
    large_ = Arena(bytes, "weight on its way to be packed", tensor_memory(stream_));
    arena = &large_;
  }
  arena->release(0);
  TensorView out = from;
  out.dtype = DType::kF32, out.data = arena->take(bytes);
  return out;
}

void AdaptedWeights::packed() {
  whole_ = false;
  if (large_.capacity() == 0) return;
  synchronize(stream_);  // waits until no kernel reads large_
  large_ = Arena();
}

TensorView AdaptedWeights::carried(const TensorView& from, int64_t extra) {
  const TensorView out = room(from, extra);
  if (stream_.is_cuda()) upload(stream_, out.data, from.data, from.numel() * int64_t(sizeof(float)));
  else copy_as_f32(stream_, from, out);
  return out;
}

TensorView AdaptedWeights::form(const TensorView& from, bool only_changed) {
  const auto found = changed_.find(place(from));
  if (found == changed_.end()) {
    if (only_changed && !whole_) return {};
    return stream_.is_cuda() || from.dtype != DType::kF32 ? carried(from, 0) : from;
  }
  const TensorView out = carried(from, model::adapter_form_bytes(stream_, base_.config(), adapters_.config()));
  found->second(out, scratch_);
  return out;
}

model::Parameters merged_weights(const Stream& stream, const model::Parameters& base, const model::WeightSnapshot& snapshot,
                                 AdaptedWeights& adapted) {
  model::Parameters out(base.config(), Stream{.pool = stream.pool});
  for (const model::WeightSnapshot::Part& part : snapshot.parts(base)) {
    const TensorView from = adapted.form(part.from, false);
    TensorView to = part.from;
    to.dtype = DType::kF32;
    to.data = out.flat().as<float>() + adapted.place(part.from);
    if (stream.is_cuda()) download(stream, to.data, from.data, to.numel() * int64_t(sizeof(float)));
    else copy_rows(stream, from, to);
    if (part.matrix.panels && part.matrix.storage == DType::kBF16) kernels::round_to_bf16(Stream{}, to);
  }
  adapted.packed();
  return out;
}

int64_t forming_bytes(const Stream& stream, const model::ModelConfig& c, const model::AdapterConfig& config) {
  int64_t widest = 2 * std::max(c.widest_mlp(), c.experts.width) * c.width;
  for (int64_t l = 0; l < c.layers; ++l) widest = std::max({widest, c.in_width(l) * c.width, c.mixed_width(l) * c.width, c.beside_width(l) * c.width});
  return Arena::rounded(widest * int64_t(sizeof(float))) + model::adapter_form_bytes(stream, c, config);
}

}  // namespace hone::trainer
