// Barriers in shared memory, and the copy engine (TMA). Source: PTX ISA, mbarrier and cp.async.bulk.tensor;
// the CUDA driver API's conditions on tensor maps.
#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "shim/hopper.h"

namespace hone::cuda_shim {

void begin_products();
bool product_step();
void end_products();

namespace {

constexpr uint64_t kCookie = 0x6d62617272696572, kEncoded = 0x74656e736f726d70;
constexpr int64_t kMostBytes = (1 << 20) - 1;  // limit of a barrier's arrivals, and of a phase's bytes

struct Barrier {
  unsigned expected, pending;
  int64_t bytes = 0;  // announced but not copied yet
  uint64_t phase = 0;
  int maker;
  bool shown = false;  // whether it was fenced for the copy engine

  void end_phase_if_done() {
    if (pending || bytes) return;
    ++phase;
    pending = expected;
  }
};

struct Tensor {
  const unsigned char* data;
  int64_t width, height, stride, matrices, distance;  // 0 matrices: of two dimensions
  uint32_t box_width, box_height, swizzle, element;  // element: bytes per element
};

struct BoxCopy {
  Tensor from;
  uint32_t to, barrier;
  BoxPlace place;
  uint32_t row_bytes() const { return from.box_width * from.element; }
  Interval range() const { return {to, to + row_bytes() * from.box_height}; }
};

struct Units {
  uint32_t origin = 0;              // address of dynamic shared memory's first byte
  std::vector<unsigned char> view;  // shared memory as the asynchronous units see it
  std::unordered_map<uint32_t, Barrier> barriers;
  std::vector<BoxCopy> copies;
};

Units& units_of(int rank) {
  static auto& all = *new std::array<Units, 8>;
  return all[size_t(rank)];
}
/// The asynchronous units of the current block.
Units& units() { return units_of(cluster_rank()); }

Barrier& barrier_at(uint32_t address, const char* what) {
  const unsigned char* at = window_bytes(address, 8, what);
  if (address % 8) fault("%s: %s of a barrier at %u, which is no multiple of 8.", kernel_name(), what, address);
  const auto found = units().barriers.find(address);
  if (found == units().barriers.end()) fault("%s: %s of a barrier that was not made.", kernel_name(), what);
  if (std::memcmp(at, &kCookie, 8)) fault("%s: %s of a barrier that was overwritten.", kernel_name(), what);
  return found->second;
}

Tensor decoded(const CUtensorMap& map) {
  const auto& w = map.opaque;
  if (reinterpret_cast<uintptr_t>(&map) % 64) fault("%s: a tensor map that does not lie at 64 bytes.", kernel_name());
  if (w[0] != kEncoded) fault("%s: a tensor map that was not encoded.", kernel_name());
  return {reinterpret_cast<const unsigned char*>(w[1]), int64_t(w[2]), int64_t(w[3]), int64_t(w[4]), int64_t(w[9]), int64_t(w[10]),
          uint32_t(w[5]), uint32_t(w[6]), uint32_t(w[7]), uint32_t(w[8])};
}

/// Reads 16 bytes of row y of matrix z (-1: the only one) from element x on, with zeros beyond the tensor.
void read_chunk(const Tensor& t, int64_t x, int64_t y, int64_t z, unsigned char (&chunk)[16]) {
  const unsigned char* const row = t.data + (z > 0 ? z * t.distance : 0) + y * t.stride;
  const bool there = y >= 0 && y < t.height && z < std::max<int64_t>(t.matrices, 1);
  if (there && x >= 0 && x + 16 / t.element <= t.width) {
    std::memcpy(chunk, row + x * t.element, 16);
    return;
  }
  std::memset(chunk, 0, 16);
  for (uint32_t byte = 0; byte < 16; byte += t.element, ++x) {
    if (there && x >= 0 && x < t.width) std::memcpy(chunk + byte, row + x * t.element, t.element);
  }
}

/// Completes a copy: writes its bytes, and counts them at its barrier.
void land(const BoxCopy& c) {
  const uint32_t row_bytes = c.row_bytes();
  for (uint32_t row = 0; row < c.from.box_height; ++row) {
    for (uint32_t byte = 0; byte < row_bytes; byte += 16) {
      unsigned char chunk[16];
      read_chunk(c.from, c.place.inner + byte / c.from.element, c.place.outer + row, c.place.matrix, chunk);
      const uint32_t at = swizzled_address(c.to + row * row_bytes + byte, c.from.swizzle);
      std::memcpy(window_bytes(at, 16, "a copy"), chunk, 16);
      std::memcpy(&units().view[at - units().origin], chunk, 16);
    }
  }
  Barrier& barrier = barrier_at(c.barrier, "a copy");
  barrier.bytes -= c.range().end - c.range().begin;
  if (barrier.bytes < -kMostBytes) fault("%s: a phase with more bytes than a barrier counts.", kernel_name());
  barrier.end_phase_if_done();
}

bool copy_step() {
  auto& copies = units().copies;
  if (copies.empty()) return false;
  std::swap(copies[next_random() % copies.size()], copies.back());
  const BoxCopy c = copies.back();
  copies.pop_back();
  land(c);
  return true;
}

}  // namespace

void begin_async() {
  if (capability() < 9) return;
  Units& u = units();
  u.barriers.clear();
  u.copies.clear();
  // All blocks of a cluster have the same origin, so that a location has the same address in each.
  u.origin = cluster_rank() > 0 ? units_of(0).origin : 1024 + uint32_t(next_random() % 8) * 128;
  u.view.assign(dynamic_shared_bytes(), 0xff);
  begin_products();
}

bool async_step() {
  if (capability() < 9) return false;
  return next_random() & 1 ? copy_step() || product_step() : product_step() || copy_step();
}

void end_async() {
  if (capability() < 9) return;
  if (!units().copies.empty()) fault("%s: a block ends while copies to its memory are under way.", kernel_name());
  end_products();
}

void expect_hopper(const char* what) {
  if (capability() != 9) fault("%s: %s on a device of capability %d.", kernel_name(), what, capability());
}

uint32_t window_address(const void* p) {
  const auto* at = static_cast<const unsigned char*>(p);
  const auto* begin = static_cast<const unsigned char*>(dynamic_shared());
  if (at < begin || at > begin + dynamic_shared_bytes()) fault("%s: no dynamic shared memory.", kernel_name());
  return units().origin + uint32_t(at - begin);
}

unsigned char* window_bytes(uint32_t address, uint32_t bytes, const char* what) {
  const uint32_t origin = units().origin;
  if (address < origin || uint64_t(address) + bytes > origin + dynamic_shared_bytes()) {
    fault("%s: %s outside shared memory.", kernel_name(), what);
  }
  return static_cast<unsigned char*>(dynamic_shared()) + (address - origin);
}

uint16_t async_half(uint32_t address, const char* what) {
  uint16_t there, seen;
  std::memcpy(&there, window_bytes(address, 2, what), 2);
  std::memcpy(&seen, &units().view[address - units().origin], 2);
  if (there != seen) fault("%s: %s of what a thread wrote, without a proxy fence.", kernel_name(), what);
  return there;
}

void barrier_init(uint32_t address, unsigned arrivals) {
  expect_hopper("mbarrier.init");
  unsigned char* const at = window_bytes(address, 8, "mbarrier.init");
  if (address % 8 || arrivals < 1 || arrivals > kMostBytes) fault("%s: mbarrier.init at %u of %u.", kernel_name(), address, arrivals);
  std::memcpy(at, &kCookie, 8);
  const Barrier fresh{.expected = arrivals, .pending = arrivals, .maker = thread_number()};
  if (!units().barriers.emplace(address, fresh).second) fault("%s: a barrier made twice.", kernel_name());
}

void barrier_arrive(uint32_t address, unsigned bytes) {
  Barrier& barrier = barrier_at(address, "mbarrier.arrive");
  if (barrier.pending == 0) fault("%s: more arrivals at a barrier than its phase has.", kernel_name());
  barrier.bytes += bytes;
  if (barrier.bytes > kMostBytes) fault("%s: a phase with more bytes than a barrier counts.", kernel_name());
  --barrier.pending;
  barrier.end_phase_if_done();
}

void barrier_wait(uint32_t address, unsigned parity, const char* file, int line) {
  if (parity > 1) fault("%s: a parity of %u.", kernel_name(), parity);
  struct Wait {
    uint32_t address;
    unsigned parity;
    bool others_first;
  } wait{address, parity, next_random() % 4 == 0};
  // One captured reference fits into std::function itself; an allocation would leak when a fiber is
  // abandoned.
  const std::function<bool()> ended = [&wait] {
    if (std::exchange(wait.others_first, false)) return false;
    return (barrier_at(wait.address, "mbarrier.try_wait").phase & 1) != wait.parity;
  };
  wait_until(ended, "a wait for a barrier's phase", file, line);
}

void fence_proxy() {
  expect_hopper("fence.proxy.async");
  Units& u = units();
  std::memcpy(u.view.data(), dynamic_shared(), u.view.size());
  for (auto& [address, barrier] : u.barriers) barrier.shown = barrier.shown || barrier.maker == thread_number();
}

void copy_box(uint32_t to, const CUtensorMap& map, BoxPlace from, uint32_t barrier) {
  expect_hopper("cp.async.bulk.tensor");
  const BoxCopy c{decoded(map), to, barrier, from};
  if ((from.matrix < 0) != (c.from.matrices == 0)) fault("%s: a copy with another number of coordinates than its map has dimensions.", kernel_name());
  const Interval range = c.range();
  if (to % 128) fault("%s: a copy to %u, which is no multiple of 128.", kernel_name(), to);
  if (!barrier_at(barrier, "a copy").shown) fault("%s: a copy to a barrier made without a proxy fence.", kernel_name());
  if (product_under_way(range)) fault("%s: a copy to what a product still reads.", kernel_name());
  if (copy_under_way(range)) fault("%s: a copy to where another one is still writing.", kernel_name());
  std::memset(window_bytes(to, range.end - to, "a copy"), 0xff, range.end - to);
  std::memset(&units().view[to - units().origin], 0xff, range.end - to);
  units().copies.push_back(c);
}

bool copy_under_way(Interval shared) {
  for (const BoxCopy& c : units().copies) {
    if (c.range().meets(shared)) return true;
  }
  return false;
}

}  // namespace hone::cuda_shim

using namespace hone::cuda_shim;

CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType type, cuuint32_t rank, void* data,
                                const cuuint64_t* shape, const cuuint64_t* strides, const cuuint32_t* box,
                                const cuuint32_t* steps, CUtensorMapInterleave interleave, CUtensorMapSwizzle swizzle,
                                CUtensorMapL2promotion, CUtensorMapFloatOOBfill) {
  if (rank != 2 && rank != 3) fault("cuTensorMapEncodeTiled: the shim knows matrices only.");
  if (!is_device_pointer(data)) fault("cuTensorMapEncodeTiled: a pointer to host memory.");
  const uint32_t element = type == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16 ? 2 : 4;
  bool good = interleave == CU_TENSOR_MAP_INTERLEAVE_NONE &&
              reinterpret_cast<uintptr_t>(map) % 64 == 0 && reinterpret_cast<uintptr_t>(data) % 16 == 0 &&
              strides[0] >= shape[0] * element;
  for (cuuint32_t i = 0; i + 1 < rank; ++i) good = good && strides[i] % 16 == 0 && strides[i] < uint64_t(1) << 40;
  for (cuuint32_t i = 0; i < rank; ++i) {
    good = good && shape[i] >= 1 && shape[i] <= uint64_t(1) << 32 && box[i] >= 1 && box[i] <= 256 && steps[i] == 1;
  }
  const uint32_t inner = box[0] * element, span = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE ? 512 : 16u << swizzle;
  if (!good || inner % 16 || inner > span) return CUDA_ERROR_INVALID_VALUE;
  *map = {{kEncoded, reinterpret_cast<uint64_t>(data), shape[0], shape[1], strides[0], box[0], box[1], uint64_t(swizzle),
           element, rank == 3 ? shape[2] : 0, rank == 3 ? strides[1] : 0}};
  return CUDA_SUCCESS;
}

cudaError_t cudaGetDriverEntryPoint(const char* name, void** function, unsigned long long,
                                    cudaDriverEntryPointQueryResult* result) {
  const bool found = !std::strcmp(name, "cuTensorMapEncodeTiled");
  *function = found ? reinterpret_cast<void*>(&cuTensorMapEncodeTiled) : nullptr;
  *result = found ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
