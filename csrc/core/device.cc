#include "core/device.h"

#include <cstring>
#include <utility>

#include "core/cuda/device.h"
#include "core/device_query.h"
#include "core/even_grain.h"

namespace hone {

Device::Device(Stream::Backend backend, ThreadPool* pool, [[maybe_unused]] Priority priority) {
  stream_.backend = backend;
  stream_.pool = pool;
  if (backend == Stream::Backend::kCpu) return;
  if (const CudaInfo info = query_cuda(); info.devices.empty()) {
    fail(Code::kCuda, "device \"cuda\" was asked for, but %s. Run `npx hone doctor`, or ask for device \"cpu\".",
         info.reason.c_str());
  }
  if constexpr (kHasCuda) stream_.handle = cuda::open_stream(priority == Priority::kUrgent);
}

Device::~Device() {
  if constexpr (kHasCuda) {
    if (stream_.is_cuda() && stream_.handle) cuda::close_stream(stream_.handle);
  }
}

Event::Event([[maybe_unused]] const Stream& stream) {
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) handle_ = cuda::create_event();
  }
}

Event::~Event() {
  if constexpr (kHasCuda) {
    if (handle_) cuda::destroy_event(handle_);
  }
}

Event::Event(Event&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

Event& Event::operator=(Event&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

void Event::record([[maybe_unused]] const Stream& stream) const {
  if constexpr (kHasCuda) {
    if (handle_) cuda::record_event(handle_, stream.handle);
  }
}

void Event::hold([[maybe_unused]] const Stream& stream) const {
  if constexpr (kHasCuda) {
    if (handle_) cuda::wait_for_event(handle_, stream.handle);
  }
}

void synchronize(const Stream& stream) {
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) cuda::synchronize(stream.handle);
  }
}

void upload(const Stream& stream, void* to, const void* from, int64_t bytes) { copy(stream, to, from, bytes); }

void download(const Stream& stream, void* to, const void* from, int64_t bytes) {
  copy(stream, to, from, bytes);
  synchronize(stream);
}

void copy(const Stream& stream, void* to, const void* from, int64_t bytes) {
  if (bytes == 0 || to == from) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::copy(stream.handle, to, from, bytes);
  }
  std::memcpy(to, from, size_t(bytes));
}

/// Bytes whose copying takes about 5 us; for fewer bytes another core does not help.
constexpr int64_t kCopiedBytes = 128 * 1024;

void copy_rows(const Stream& stream, const TensorView& from, const TensorView& to) {
  if (from.data == to.data || from.numel() == 0) return;
  if (from.dtype != to.dtype || from.dim(0) != to.dim(0) || from.numel() != to.numel()) {
    fail(Code::kShape, "copy_rows: from %lld rows of %s to %lld of %s.", (long long)from.dim(0), dtype_name(from.dtype),
         (long long)to.dim(0), dtype_name(to.dtype));
  }
  const int64_t element = dtype_bytes(from.dtype), rows = from.dim(0), bytes = from.numel() / rows * element;
  const int64_t from_pitch = from.row_stride * element, to_pitch = to.row_stride * element;
  const bool whole = from.contiguous() && to.contiguous();
  if constexpr (kHasCuda) {
    if (stream.is_cuda() && whole) return cuda::copy(stream.handle, to.data, from.data, rows * bytes);
    if (stream.is_cuda()) return cuda::copy_rows(stream.handle, to.data, to_pitch, from.data, from_pitch, bytes, rows);
  }
  const std::byte* const source = from.as<std::byte>();
  std::byte* const target = to.as<std::byte>();
  stream.parallel_for(rows, even_grain(stream, rows, kCopiedBytes / bytes), [&](int64_t begin, int64_t end) {
    if (whole) std::memcpy(target + begin * bytes, source + begin * bytes, size_t((end - begin) * bytes));
    for (int64_t r = begin; r < end && !whole; ++r) std::memcpy(target + r * to_pitch, source + r * from_pitch, size_t(bytes));
  });
}

void zero(const Stream& stream, void* to, int64_t bytes) {
  if (bytes == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::zero(stream.handle, to, bytes);
  }
  std::memset(to, 0, size_t(bytes));
}

SharedArrays::SharedArrays(const Stream& stream, int64_t bytes, const char* purpose)
    : host_(bytes, purpose, stream.is_cuda() ? Memory::kPinned : Memory::kHost) {
  host_base_ = static_cast<std::byte*>(host_.take(0));
  if (!stream.is_cuda()) return;
  device_ = Arena(bytes, purpose, Memory::kDevice);
  device_base_ = static_cast<std::byte*>(device_.take(0));
}

void SharedArrays::upload(const Stream& stream, int64_t begin, int64_t end) const {
  if (device_base_) hone::upload(stream, device_base_ + begin, host_base_ + begin, end - begin);
}

void SharedArrays::download(const Stream& stream, int64_t begin, int64_t end) const {
  if (device_base_) hone::download(stream, host_base_ + begin, device_base_ + begin, end - begin);
}

Graph::~Graph() {
  if constexpr (kHasCuda) {
    if (handle_) cuda::destroy_graph(handle_);
  }
}

Graph::Graph(Graph&& other) noexcept { *this = std::move(other); }

Graph& Graph::operator=(Graph&& other) noexcept {
  std::swap(handle_, other.handle_);
  return *this;
}

bool Graph::begin(const Stream& stream) {
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::begin_capture(stream.handle), true;
  }
  return false;
}

void Graph::end(const Stream& stream) {
  if constexpr (kHasCuda) {
    Graph fresh;
    fresh.handle_ = cuda::end_capture(stream.handle);
    std::swap(handle_, fresh.handle_);
  }
}

void Graph::abandon(const Stream& stream) noexcept {
  try {
    end(stream);
  } catch (const Error&) {  // the error of the recorded work is already being thrown
  }
}

void Graph::launch(const Stream& stream) const {
  if (!handle_) fail(Code::kInternal, "graph: launched before anything was recorded.");
  if constexpr (kHasCuda) cuda::launch_graph(handle_, stream.handle);
}

}  // namespace hone
