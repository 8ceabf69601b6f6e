#include "model/tensor_block.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <utility>

#include "core/device.h"
#include "kernels/cast.h"

namespace hone::model {
namespace {

/// Bytes that a thread copies at a time: enough that claiming them costs nothing in comparison.
constexpr int64_t kCopyGrain = int64_t(1) << 20;

bool are_bf16(const Stream& stream, const TensorView& floats) {
  const auto* const bits = floats.as<uint32_t>();
  std::atomic<bool> others = false;
  stream.parallel_for(floats.numel(), kCopyGrain, [&](int64_t begin, int64_t end) {
    uint32_t low = 0;
    for (int64_t i = begin; i < end; ++i) low |= bits[i];
    if (low & 0xffffu) others = true;
  });
  return !others;
}

}  // namespace

int64_t TensorSpec::numel() const {
  int64_t n = 1;
  for (int64_t d : shape) n *= d;
  return n;
}

int64_t total_elements(const std::vector<TensorSpec>& specs) {
  const int64_t end = specs.back().offset + specs.back().numel();
  return (end + kTensorAlignment - 1) / kTensorAlignment * kTensorAlignment;
}

TensorBlock::TensorBlock(const ModelConfig& config, std::vector<TensorSpec> specs, const Stream& stream, DType dtype,
                         Memory memory)
    : config_(config), stream_(stream), specs_(std::move(specs)), dtype_(dtype) {
  const int64_t bytes = total_elements(specs_) * dtype_bytes(dtype_);
  arena_ = Arena(bytes, "parameters", memory);
  base_ = arena_.take(bytes);
  if (!arena_.discard()) zero();
}

bool TensorBlock::has(const std::string& name) const {
  return std::any_of(specs_.begin(), specs_.end(), [&](const TensorSpec& spec) { return spec.name == name; });
}

TensorView TensorBlock::view(const TensorSpec& spec) const {
  void* data = static_cast<std::byte*>(base_) + spec.offset * dtype_bytes(dtype_);
  if (spec.shape.size() == 1) return {data, dtype_, {spec.shape[0]}};
  if (spec.shape.size() == 2) return {data, dtype_, {spec.shape[0], spec.shape[1]}};
  return {data, dtype_, {spec.shape[0], spec.shape[1], spec.shape[2]}};
}

TensorView TensorBlock::view(const std::string& name) const {
  for (const TensorSpec& spec : specs_) {
    if (spec.name == name) return view(spec);
  }
  fail(Code::kFormat, "model %s has no tensor \"%s\".", config_.arch.c_str(), name.c_str());
}

TensorView TensorBlock::flat() const { return {base_, dtype_, {total_elements(specs_)}}; }

void TensorBlock::zero() { hone::zero(stream_, base_, total_elements(specs_) * dtype_bytes(dtype_)); }

bool TensorBlock::store_as(DType dtype) {
  if (dtype == dtype_) return true;
  if (dtype == DType::kBF16 && !are_bf16(stream_, flat())) return false;
  const int64_t n = total_elements(specs_), bytes = n * dtype_bytes(dtype);
  Arena arena(bytes, "parameters", arena_.memory());
  void* const to = arena.take(bytes);
  kernels::cast(stream_, {.from = {base_, dtype_, {n / kTensorAlignment, kTensorAlignment}}, .to = {to, dtype, {n / kTensorAlignment, kTensorAlignment}}});
  arena_ = std::move(arena), base_ = to, dtype_ = dtype;
  return true;
}

void TensorBlock::discard(int64_t offset, int64_t count) {
  arena_.discard(static_cast<std::byte*>(base_) + offset * dtype_bytes(dtype_), count * dtype_bytes(dtype_));
}

int64_t TensorBlock::staging_bytes(const TensorView& tensor) const {
  return stream_.is_cuda() ? Arena::rounded(tensor.numel() * dtype_bytes(tensor.dtype)) : 0;
}

void TensorBlock::write(const TensorView& tensor, const std::function<void(const TensorView& host)>& fill) {
  if (!stream_.is_cuda()) return fill(tensor);
  Arena staging(staging_bytes(tensor), "staged tensor");
  TensorView host = tensor;
  host.data = staging.take(staging.capacity());
  fill(host);
  upload(stream_, tensor.data, host.data, tensor.numel() * dtype_bytes(tensor.dtype));
  synchronize(stream_);
}

TensorView TensorBlock::read(const TensorView& tensor, Arena& staging) const {
  if (!stream_.is_cuda()) return tensor;
  TensorView host = tensor;
  host.data = staging.take(staging_bytes(tensor));
  download(stream_, host.data, tensor.data, tensor.numel() * dtype_bytes(tensor.dtype));
  return host;
}

void TensorBlock::copy(const TensorView& tensor, void* host, ThreadPool* pool) const {
  const int64_t bytes = tensor.numel() * dtype_bytes(tensor.dtype);
  if (stream_.is_cuda()) return download(stream_, host, tensor.data, bytes);
  const auto piece = [&](int64_t begin, int64_t end) {
    std::memcpy(static_cast<std::byte*>(host) + begin, tensor.as<std::byte>() + begin, size_t(end - begin));
  };
  if (pool) pool->parallel_for(bytes, kCopyGrain, piece);
  else piece(0, bytes);
}

}  // namespace hone::model
