#include "trainer/trained_gradients.h"

#include "core/device.h"

namespace hone::trainer {

model::TensorBlock& TrainedGradients::block() {
  if (adapters_) {
    if (!of_adapters_) of_adapters_.emplace(config_, adapters_->block().specs(), stream_);
    return *of_adapters_;
  }
  return all_ ? *all_ : all_.emplace(config_, stream_);
}

model::Gradients TrainedGradients::views() {
  model::TensorBlock& own = block();
  if (!adapters_) return {.parameters = &*all_};
  const int64_t width = model::unused_gradient_width(config_);
  if (unused_.capacity() == 0) unused_ = Arena(Arena::rounded(width * 4), "gradients of frozen norms", tensor_memory(stream_));
  unused_.release(0);
  const TensorView unread = unused_.take_view(DType::kF32, {width});
  zero(stream_, unread.data, unread.numel() * 4);
  return {.adapters = adapters_, .of_adapters = &own, .unused = unread};
}

}  // namespace hone::trainer
