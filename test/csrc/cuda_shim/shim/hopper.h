// Hopper's asynchronous units, as the PTX ISA describes them: barriers that count arrivals and bytes, the
// copy engine (tma.cc), and matrix products by groups of four warps (wgmma.cc). A copy or product is in
// progress from its instruction on; when, and in which order, it ends is random. The memory that it reads or
// writes is checked against everything else in progress.
#pragma once

#include <cuda.h>

#include <cstdint>

namespace hone::cuda_shim {

struct Interval {
  uint32_t begin = 0, end = 0;
  bool meets(Interval o) const { return begin < o.end && o.begin < end; }
};

// Called by the machine: when a block starts; to end one copy or product (false: none is in progress); when a
// block ends.
void begin_async();
bool async_step();
void end_async();

// ---- shared memory as the asynchronous units address it ----

/// Faults unless the caller is a kernel on a device of capability 9.0.
void expect_hopper(const char* what);
/// The 32-bit address of a location in dynamic shared memory, which starts at a random multiple of 128.
uint32_t window_address(const void* p);
/// The memory at a 32-bit address; faults if the bytes lie outside dynamic shared memory.
unsigned char* window_bytes(uint32_t address, uint32_t bytes, const char* what);
/// The two bytes at the address as the asynchronous units see them; faults if a thread wrote them without a
/// fence.
uint16_t async_half(uint32_t address, const char* what);
/// The address after swizzling: the index of the 16-byte chunk is XORed with the row of 128 bytes. `mode` 1,
/// 2, 3: spans of 32, 64, 128 bytes.
constexpr uint32_t swizzled_address(uint32_t address, unsigned mode) {
  return address ^ (address >> 3 & ((1u << mode) - 1) << 4);
}

// ---- barriers and the copy engine ----
void barrier_init(uint32_t barrier, unsigned arrivals);
void barrier_arrive(uint32_t barrier, unsigned bytes);
void barrier_wait(uint32_t barrier, unsigned parity, const char* file, int line);
void fence_proxy();
/// Where a box begins. matrix -1: the copy has no such coordinate, and the map must have two dimensions.
struct BoxPlace {
  int inner, outer, matrix = -1;
};
void copy_box(uint32_t to, const CUtensorMap& map, BoxPlace from, uint32_t barrier);
bool copy_under_way(Interval shared);

// ---- products ----

/// d (+)= a b^T over 16 k. A is in the four registers `left` or, if that is null, in shared memory at
/// descriptor `a`.
struct ProductCall {
  uint64_t a, b;
  int columns;
  bool lines_a, lines_b, add;
  bool operator==(const ProductCall&) const = default;
};
/// Whether wgmma truncates sums of 16 products toward zero, as the hardware is said to, while mma.sync
/// rounds, so that tests can see the difference between the two instructions. Off unless a test turns it on.
void truncate_products(bool on);
void wgmma_issue(const ProductCall& call, const uint32_t* left, float* sums, const char* file, int line);
void wgmma_fence();
void wgmma_commit();
void wgmma_wait(int groups_left, const char* file, int line);
bool product_under_way(Interval shared);
/// Executes setmaxnreg: increases (`more`) or decreases the registers of a thread to `count`.
void set_registers(int count, bool more);

}  // namespace hone::cuda_shim
