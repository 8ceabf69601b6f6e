#include "shim/runtime.h"

#include <sys/mman.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "shim/machine.h"
#include "shim/streams.h"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

namespace hone::cuda_shim {
namespace {

// no address is used twice, so that a freed pointer stays invalid
constexpr size_t kAddresses = size_t(1) << 36;
constexpr size_t kMemory = size_t(4) << 30;     // memory that the emulated device reports
constexpr size_t kAlign = 256, kHostPage = 4096;

/// Global memory: one reserved region, inaccessible except while a kernel or a copy runs.
struct Heap {
  std::recursive_mutex lock;
  unsigned char* base = nullptr;
  size_t end = kAlign;  // end of all memory allocated so far
  size_t live_bytes = 0;
  std::map<const void*, size_t> live, pinned;
  int open = 0;

  Heap() {
    void* p = mmap(nullptr, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) fault("the shim cannot reserve addresses for global memory.");
    base = static_cast<unsigned char*>(p);
  }
  void protect(int how) const { mprotect(base, (end + kHostPage - 1) / kHostPage * kHostPage, how); }
};

Heap& heap() {
  static Heap& h = *new Heap;  // never destroyed, because static objects may free device memory at exit
  return h;
}

cudaError_t last_error = cudaSuccess;

/// Whether a copy from or to `p` waits in the stream's queue, as for device memory and page-locked host
/// memory.
bool waits_in_queue(const void* p) {
  if (is_device_pointer(p)) return true;
  const DeviceAccess locked;
  const auto after = heap().pinned.upper_bound(p);
  if (after == heap().pinned.begin()) return false;
  const auto& [base, bytes] = *std::prev(after);
  return static_cast<const char*>(p) < static_cast<const char*>(base) + bytes;
}

bool wrong_side(const void* p, bool device) { return is_device_pointer(p) != device; }

cudaError_t expect_sides(const void* to, const void* from, cudaMemcpyKind kind) {
  if (kind == cudaMemcpyDefault) return cudaSuccess;
  const bool to_device = kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice;
  const bool from_device = kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice;
  return wrong_side(to, to_device) || wrong_side(from, from_device) ? cudaErrorInvalidValue : cudaSuccess;
}

}  // namespace

cudaError_t report(cudaError_t status) {
  if (status != cudaSuccess) last_error = status;
  return status;
}

DeviceAccess::DeviceAccess() {
  heap().lock.lock();
  if (heap().open++ == 0) heap().protect(PROT_READ | PROT_WRITE);
}
DeviceAccess::~DeviceAccess() {
  if (--heap().open == 0) heap().protect(PROT_NONE);
  heap().lock.unlock();
}

std::vector<std::pair<unsigned char*, size_t>> live_memory() {
  std::vector<std::pair<unsigned char*, size_t>> all;
  for (const auto& [at, bytes] : heap().live) {
    all.emplace_back(heap().base + (static_cast<const unsigned char*>(at) - heap().base), bytes);
  }
  return all;
}

bool is_device_pointer(const void* p) {
  const auto* at = static_cast<const unsigned char*>(p);
  return at >= heap().base && at < heap().base + kAddresses;
}

}  // namespace hone::cuda_shim

using namespace hone::cuda_shim;

const char* cudaGetErrorName(cudaError_t status) {
  switch (status) {
    case cudaSuccess: return "cudaSuccess";
    case cudaErrorInvalidValue: return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation: return "cudaErrorMemoryAllocation";
    case cudaErrorInsufficientDriver: return "cudaErrorInsufficientDriver";
    case cudaErrorNoDevice: return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice: return "cudaErrorInvalidDevice";
    case cudaErrorNotReady: return "cudaErrorNotReady";
    case cudaErrorNotSupported: return "cudaErrorNotSupported";
    case cudaErrorStreamCaptureUnsupported: return "cudaErrorStreamCaptureUnsupported";
  }
  return "cudaErrorUnknown";
}
const char* cudaGetErrorString(cudaError_t status) { return cudaGetErrorName(status); }
cudaError_t cudaGetLastError() { return std::exchange(last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return last_error; }

cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
cudaError_t cudaGetDevice(int* device) { return *device = 0, cudaSuccess; }
cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : report(cudaErrorInvalidDevice); }
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  *properties = {"fiber shim", capability(), 0, 2, kMemory, max_shared_bytes()};
  return cudaSuccess;
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (device != 0) return report(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevAttrMaxSharedMemoryPerBlockOptin: *value = int(max_shared_bytes()); break;
    case cudaDevAttrClockRate: *value = 1'000'000; break;
    case cudaDevAttrMultiProcessorCount: *value = 2; break;
    case cudaDevAttrComputeCapabilityMajor: *value = capability(); break;
    case cudaDevAttrComputeCapabilityMinor: *value = 0; break;
  }
  return cudaSuccess;
}
cudaError_t cudaDeviceSynchronize() {
  finish_all();
  return report(captures() ? cudaErrorStreamCaptureUnsupported : cudaSuccess);
}
cudaError_t cudaMemGetInfo(size_t* free_bytes, size_t* total_bytes) {
  *total_bytes = kMemory;
  *free_bytes = kMemory - heap().live_bytes;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** p, size_t bytes) {
  Heap& h = heap();
  const DeviceAccess open;
  *p = nullptr;
  if (captures()) return report(cudaErrorStreamCaptureUnsupported);
  if (bytes == 0) return cudaSuccess;
  const size_t room = (bytes + kAlign - 1) / kAlign * kAlign + kAlign;  // includes a guard after every piece
  if (bytes > kMemory - h.live_bytes || room > kAddresses - h.end) return report(cudaErrorMemoryAllocation);
  unsigned char* at = h.base + h.end;
  h.end += room;
  h.protect(PROT_READ | PROT_WRITE);
  ASAN_POISON_MEMORY_REGION(at + bytes, room - bytes);
  std::memset(at, 0xff, bytes);
  h.live[at] = bytes;
  h.live_bytes += bytes;
  *p = at;
  return cudaSuccess;
}

cudaError_t cudaFree(void* p) {
  if (!p) return cudaSuccess;
  finish_all();
  forget_changes();
  Heap& h = heap();
  const DeviceAccess open;
  const auto found = h.live.find(p);
  if (found == h.live.end()) return report(cudaErrorInvalidValue);
  h.live_bytes -= found->second;
  ASAN_POISON_MEMORY_REGION(p, found->second);
  const auto at = reinterpret_cast<uintptr_t>(p), whole = (at + kHostPage - 1) / kHostPage * kHostPage;
  const uintptr_t end = (at + found->second) / kHostPage * kHostPage;
  if (end > whole) madvise(reinterpret_cast<void*>(whole), end - whole, MADV_DONTNEED);
  h.live.erase(found);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** p, size_t bytes) {
  *p = std::malloc(bytes ? bytes : 1);
  if (!*p) return report(cudaErrorMemoryAllocation);
  const DeviceAccess locked;
  heap().pinned[*p] = bytes;
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* p) {
  finish_all();
  const DeviceAccess locked;
  heap().pinned.erase(p);
  return std::free(p), cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  return cudaMemcpy2DAsync(to, bytes, from, bytes, bytes, 1, kind, stream);
}
cudaError_t cudaMemcpy2DAsync(void* to, size_t to_pitch, const void* from, size_t from_pitch, size_t width,
                              size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  if (width == 0 || height == 0) return cudaSuccess;
  if (expect_sides(to, from, kind) != cudaSuccess || to_pitch < width || from_pitch < width) {
    return report(cudaErrorInvalidValue);
  }
  // As in CUDA, a copy has read or written ordinary host memory when it returns, but not page-locked memory.
  std::shared_ptr<std::vector<char>> read_now;
  if (deferring(stream) && !waits_in_queue(from)) {
    read_now = std::make_shared<std::vector<char>>((height - 1) * from_pitch + width);
    std::memcpy(read_now->data(), from, read_now->size());
    from = read_now->data();
  }
  submit(stream, [=] {
    (void)read_now;
    forget_changes();
    if (!note_launch("copy")) return;
    const DeviceAccess open;
    for (size_t i = 0; i < height; ++i) {
      std::memcpy(static_cast<char*>(to) + i * to_pitch, static_cast<const char*>(from) + i * from_pitch, width);
    }
  });
  if (deferring(stream) && !waits_in_queue(to)) finish(stream);
  return cudaSuccess;
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  if (captures()) return report(cudaErrorStreamCaptureUnsupported);
  finish_all();
  return cudaMemcpyAsync(to, from, bytes, kind);
}
cudaError_t cudaMemsetAsync(void* p, int value, size_t bytes, cudaStream_t stream) {
  if (bytes == 0) return cudaSuccess;
  if (!is_device_pointer(p)) return report(cudaErrorInvalidValue);
  submit(stream, [=] {
    forget_changes();
    if (!note_launch("copy")) return;
    const DeviceAccess open;
    std::memset(p, value, bytes);
  });
  return cudaSuccess;
}
cudaError_t cudaMemset(void* p, int value, size_t bytes) {
  if (captures()) return report(cudaErrorStreamCaptureUnsupported);
  finish_all();
  return cudaMemsetAsync(p, value, bytes);
}
