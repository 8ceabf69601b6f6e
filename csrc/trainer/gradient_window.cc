#include "trainer/gradient_window.h"

#include <algorithm>
#include <utility>

#include "core/device.h"

namespace hone::trainer {
namespace {

struct Extent {
  int64_t widest = 0, outside = 0;  // elements of the widest layer, and of the tensors outside of layers
};

/// layers: L, which is the layer index of buckets outside of layers.
Extent extent_of(const ShardLayout& layout, int64_t layers) {
  Extent out;
  std::vector<int64_t> counts(size_t(layers + 1));
  for (const ShardBucket& bucket : layout.buckets()) counts[size_t(bucket.layer)] += bucket.count;
  out.outside = counts.back();
  for (int64_t l = 0; l < layers; ++l) out.widest = std::max(out.widest, counts[size_t(l)]);
  return out;
}

}  // namespace

int64_t gradient_window_bytes(const ShardLayout& layout, int64_t layers) {
  const Extent extent = extent_of(layout, layers);
  return Arena::view_bytes(DType::kF32, extent.widest) + Arena::view_bytes(DType::kF32, extent.outside);
}

GradientWindow::GradientWindow(const Stream& stream, const model::Parameters& parameters, const ShardLayout& layout)
    : stream_(stream),
      parameters_(parameters),
      layout_(layout),
      memory_(gradient_window_bytes(layout, parameters.config().layers), "gradients of a layer", tensor_memory(stream)) {
  const Extent extent = extent_of(layout, parameters.config().layers);
  widest_ = extent.widest, outside_count_ = extent.outside;
  layer_ = memory_.take_array<float>(widest_);
  outside_ = memory_.take_array<float>(outside_count_);
  float* outside = outside_;
  int64_t layer = -1, begin = 0;
  for (const ShardBucket& bucket : layout.buckets()) {
    if (bucket.layer != layer) layer = bucket.layer, begin = bucket.offset;
    if (layer == parameters.config().layers) of_bucket_.push_back(std::exchange(outside, outside + bucket.count));
    else of_bucket_.push_back(layer_ + (bucket.offset - begin));
  }
}

void GradientWindow::begin(Take take) {
  take_ = std::move(take);
  clear_layer();
  zero(stream_, outside_, outside_count_ * int64_t(sizeof(float)));
  next_ = parameters_.config().layers - 1;
}

void GradientWindow::end() {
  while (next_ >= 0) finished(next_);
  hand_on(parameters_.config().layers);
  take_ = nullptr;
}

void GradientWindow::finished(int64_t i) {
  next_ = i - 1;
  hand_on(i);
  clear_layer();
}

void GradientWindow::clear_layer() { zero(stream_, layer_, widest_ * int64_t(sizeof(float))); }

void GradientWindow::hand_on(int64_t layer) {
  for (size_t b = 0; b < of_bucket_.size(); ++b) {
    if (layout_.buckets()[b].layer == layer) take_(b, of_bucket_[b]);
  }
}

/// Maps a view of the parameters to the corresponding view of the window's gradients.
TensorView GradientWindow::moved(TensorView view) const {
  const int64_t offset = view.as<float>() - parameters_.flat().as<float>();
  const auto starts_after = [](int64_t at, const ShardBucket& bucket) { return at < bucket.offset; };
  const auto& buckets = layout_.buckets();
  const auto b = size_t(std::upper_bound(buckets.begin(), buckets.end(), offset, starts_after) - buckets.begin()) - 1;
  view.data = of_bucket_[b] + (offset - buckets[b].offset);
  return view;
}

model::LayerViews GradientWindow::layer(int64_t i) {
  return parameters_.layer(i).moved([this](const TensorView& view) { return moved(view); });
}

}  // namespace hone::trainer
