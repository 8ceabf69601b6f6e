#include "core/arena.h"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/cuda/device.h"
#include "core/stream.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace hone {
namespace {

constexpr int64_t kHugePage = 2 << 20;

std::atomic<int64_t> live[3];  // bytes by kind of memory

/// Allocates with huge pages: weights and activations are read sequentially, and address translation for 4 KB
/// pages would limit the speed.
void* allocate_host(int64_t bytes) {
  const bool large = bytes >= 2 * kHugePage;
  void* block = nullptr;
  if (posix_memalign(&block, large ? size_t(kHugePage) : 64, size_t(bytes)) != 0) return nullptr;
#if defined(__linux__)
  if (large) madvise(block, size_t(bytes), MADV_HUGEPAGE);  // only a hint to the system
#endif
  return block;
}

/// Returns null if the system has too little memory.
void* allocate(Memory memory, int64_t bytes) {
  if constexpr (kHasCuda) {
    if (memory != Memory::kHost) return cuda::allocate(memory, bytes);
  }
  return memory == Memory::kHost ? allocate_host(bytes) : nullptr;
}

void release_block(Memory memory, void* block) {
  if constexpr (kHasCuda) {
    if (memory != Memory::kHost) return cuda::release(memory, block);
  }
  std::free(block);
}

}  // namespace

Arena::Arena(int64_t bytes, const char* purpose, Memory memory) : purpose_(purpose), memory_(memory) {
  if (bytes < 0) fail(Code::kInternal, "%s arena: negative size %lld.", purpose, (long long)bytes);
  capacity_ = rounded(bytes);
  if (capacity_ == 0) return;
  base_ = static_cast<std::byte*>(allocate(memory, capacity_));
  if (!base_) {
    fail(Code::kOutOfMemory, "%s arena needs %.1f MB, which the %s refused.", purpose, double(capacity_) / 1e6,
         memory == Memory::kDevice ? "device" : "system");
  }
  live[size_t(memory)] += capacity_;
}

bool Arena::discard() {
#if defined(__linux__)
  if (memory_ != Memory::kHost || capacity_ < 2 * kHugePage) return false;
  const int64_t whole = capacity_ / kHugePage * kHugePage;  // the block begins at a huge page
  if (madvise(base_, size_t(whole), MADV_DONTNEED) != 0) return false;
  std::memset(base_ + whole, 0, size_t(capacity_ - whole));
  return true;
#else
  return false;
#endif
}

void Arena::discard(void* from, int64_t bytes) {
  auto* const begin = static_cast<std::byte*>(from);
  int64_t head = bytes, tail = 0;
#if defined(__linux__)
  const auto page = int64_t(sysconf(_SC_PAGESIZE));
  const int64_t before = (page - int64_t(uintptr_t(begin) % uintptr_t(page))) % page;
  const int64_t whole = bytes > before ? (bytes - before) / page * page : 0;
  if (memory_ == Memory::kHost && whole > 0 && madvise(begin + before, size_t(whole), MADV_DONTNEED) == 0) {
    head = before, tail = bytes - before - whole;
  }
#endif
  std::memset(begin, 0, size_t(head));
  std::memset(begin + bytes - tail, 0, size_t(tail));
}

Arena::~Arena() {
  if (base_) live[size_t(memory_)] -= capacity_;
  release_block(memory_, base_);
}

int64_t Arena::live_bytes(Memory memory) { return live[size_t(memory)]; }

Arena::Arena(Arena&& other) noexcept { *this = std::move(other); }

Arena& Arena::operator=(Arena&& other) noexcept {
  std::swap(base_, other.base_);
  std::swap(capacity_, other.capacity_);
  std::swap(used_, other.used_);
  std::swap(peak_, other.peak_);
  std::swap(purpose_, other.purpose_);
  std::swap(memory_, other.memory_);
  return *this;
}

void* Arena::take(int64_t bytes) {
  if (bytes < 0) fail(Code::kInternal, "%s arena: negative size %lld.", purpose_, (long long)bytes);
  const int64_t size = bytes > capacity_ ? bytes : rounded(bytes);  // rounding up a huge size would overflow
  if (size > capacity_ - used_) {
    fail(Code::kOutOfMemory, "%s arena: %lld bytes wanted, %lld of %lld free.", purpose_, (long long)bytes,
         (long long)(capacity_ - used_), (long long)capacity_);
  }
  void* piece = base_ + used_;
  used_ += size;
  if (used_ > peak_) peak_ = used_;
  return piece;
}

TensorView Arena::take_view(DType dtype, std::initializer_list<int64_t> dims) {
  int64_t bytes = dtype_bytes(dtype);
  for (int64_t d : dims) bytes *= d;
  return {take(bytes), dtype, dims};
}

}  // namespace hone
