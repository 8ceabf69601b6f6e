#include "trainer/weight_window.h"

#include <algorithm>

namespace hone::trainer {
namespace {

struct Widest {
  int64_t elements = 0;  // elements of the widest layer
  int64_t sent = 0;      // most elements of a layer that one rank sends, in whole blocks
};

Widest widest_of(const ShardLayout& layout, int64_t layers) {
  std::vector<Widest> all(size_t(layers + 1));
  for (size_t b = 0; b < layout.buckets().size(); ++b) {
    const ShardBucket& bucket = layout.buckets()[b];
    all[size_t(bucket.layer)].elements += bucket.count;
    all[size_t(bucket.layer)].sent += layout.width(b);
  }
  Widest out;
  for (int64_t l = 0; l < layers; ++l) {
    out.elements = std::max(out.elements, all[size_t(l)].elements);
    out.sent = std::max(out.sent, all[size_t(l)].sent);
  }
  return out;
}

/// Offset of a layer in the block of all parameters.
int64_t layer_offset(const ShardLayout& layout, int64_t layer) {
  for (const ShardBucket& bucket : layout.buckets()) {
    if (bucket.layer == layer) return bucket.offset;
  }
  return 0;
}

}  // namespace

int64_t weight_window_bytes(const ShardLayout& layout, int64_t layers) {
  const Widest widest = widest_of(layout, layers);
  const auto floats = [](int64_t n) { return Arena::view_bytes(DType::kF32, n); };
  return floats(widest.sent) + floats(widest.sent * layout.ranks()) + floats(widest.elements);
}

WeightWindow::WeightWindow(const Stream& stream, const Source& source, DType storage, kernels::Arithmetic arithmetic)
    : stream_(stream),
      ahead_(stream.backend, nullptr),
      arrived_(stream),
      unpacked_(stream),
      from_(source),
      layers_(source.parameters.config().layers),
      memory_(weight_window_bytes(source.layout, layers_), "weights of a layer", tensor_memory(stream)),
      packed_(model::WeightSnapshot::of_one_layer(stream, source.parameters.config(), storage, arithmetic)) {
  const Widest widest = widest_of(source.layout, layers_);
  out_ = memory_.take_array<float>(widest.sent);
  in_ = memory_.take_array<float>(widest.sent * source.layout.ranks());
  layer_ = memory_.take_array<float>(widest.elements);
  zero(ahead_.stream(), out_, float_bytes(widest.sent));  // the padding of a part is sent, too
  packed_->by_layer = this;
}

void WeightWindow::begin(Pass pass) {
  gathers_ = pass == Pass::kTraining ? 2 * layers_ - 1 : layers_;
  done_ = 0;
  start(layer_at(0));
  if (ends_stale_) pack_ends();
}

int64_t WeightWindow::layer_at(int64_t gather) const { return gather < layers_ ? gather : 2 * layers_ - 2 - gather; }

void WeightWindow::pack_ends() {
  const auto parts = model::end_parts(from_.parameters, *packed_);
  ends_stale_ = false;
  if (stream_.is_cuda()) {
    // layer_ is not in use yet
    const TensorView room = f32(layer_, {widest_of(from_.layout, layers_).elements});
    for (const model::WeightSnapshot::Part& part : parts) model::pack_carried(stream_, part, room);
    return;
  }
  for (const model::WeightSnapshot::Part& part : parts) model::pack_part(stream_, part.from, part);
}

void WeightWindow::start(int64_t layer) {
  const int size = from_.layout.ranks();
  const float* const own = from_.parameters.flat().as<float>();
  int64_t at = 0;
  unpacked_.hold(ahead_.stream());
  // waits with a time-out, because uploads wait for the stream without one
  if (from_.in_teams) from_.ranks.wait(ahead_.stream());
  for (size_t b = 0; b < from_.layout.buckets().size(); ++b) {
    if (from_.layout.buckets()[b].layer != layer) continue;
    const ShardPart& part = from_.layout.part(b, from_.ranks.rank());
    const int64_t width = from_.layout.width(b);
    upload(ahead_.stream(), out_ + at, own + part.offset, float_bytes(part.count));
    from_.ranks.all_gather(ahead_.stream(), f32(out_ + at, {width}), f32(in_ + at * size, {width * size}));
    at += width;
  }
  arrived_.record(ahead_.stream());
}

/// Waits until the layer in transfer has arrived, and starts gathering the pass's next layer.
void WeightWindow::advance() {
  from_.ranks.wait(ahead_.stream());
  arrived_.hold(stream_);
  const int64_t layer = layer_at(done_), begin = layer_offset(from_.layout, layer);
  int64_t at = 0;
  for (size_t b = 0; b < from_.layout.buckets().size(); ++b) {
    const ShardBucket& bucket = from_.layout.buckets()[b];
    if (bucket.layer != layer) continue;
    const int64_t width = from_.layout.width(b);
    for (int rank = 0; rank < from_.layout.ranks(); ++rank) {
      const ShardPart& part = from_.layout.part(b, rank);
      const float* const arrived = in_ + at * from_.layout.ranks() + rank * width;
      copy(stream_, layer_ + (part.offset - begin), arrived, float_bytes(part.count));
    }
    at += width;
  }
  unpacked_.record(stream_);
  if (++done_ < gathers_) start(layer_at(done_));
}

void WeightWindow::reach(int64_t gather) {
  while (done_ <= gather) advance();
}

model::LayerViews WeightWindow::gathered(int64_t layer) const {
  const float* const whole = from_.parameters.flat().as<float>() + layer_offset(from_.layout, layer);
  return from_.parameters.layer(layer).moved([&](TensorView view) {
    view.data = layer_ + (view.as<float>() - whole);
    return view;
  });
}

void WeightWindow::pack(int64_t layer) {
  for (const model::WeightSnapshot::Part& part : model::layer_parts(gathered(layer), packed_->layers[size_t(layer)])) model::pack_part(stream_, part.from, part);
}

void WeightWindow::forward(int64_t layer) {
  reach(layer);
  pack(layer);
}

void WeightWindow::reach_backward(int64_t layer) { reach(std::min(2 * layers_ - 2 - layer, gathers_ - 1)); }

void WeightWindow::backward(int64_t layer) {
  reach_backward(layer);
  pack(layer);
}

void WeightWindow::end() { reach(gathers_ - 1); }

}  // namespace hone::trainer
