// The matrix loop of the output head on Hopper. Persistent blocks process tile after tile: one thread lets
// the copy engine (TMA) fill a ring of stages of 64 k, two groups of four warps multiply 64 outputs each with
// the same rows (wgmma), and a finished tile has its own memory, so that the stages of the next tile load
// meanwhile. For tiles of 128 rows, additional warps run the epilogue while the groups continue to multiply;
// for fewer rows the groups run it. Order of sums, second set of registers and epilogues are those of
// lm_head_tile.cuh, but wgmma rounds differently, so a device always uses only one of the two loops.
#pragma once

#include <algorithm>

#include "kernels/cuda/early.cuh"
#include "kernels/cuda/lm_head_tile.cuh"
#include "kernels/cuda/lm_head_weight_sm90.cuh"
#include "kernels/cuda/operand_sm90.cuh"
#include "kernels/cuda/tma_ring.cuh"

namespace hone::kernels::cuda {

/// A tile of 128 outputs x kRows. With few rows, reading the weights limits the speed: two blocks run per
/// multiprocessor, so that one reads while the other finishes its tile, where registers suffice (not for 64
/// rows with two sets of fragments).
template <class Weight, int kRows_>
struct HopperHeadTile {
  static constexpr int kRows = kRows_, kGroups = kHeadOutputs / 64;
  static constexpr bool kApart = kRows >= 128;
  // index of the first group of warps that multiplies: of the groups before it warp 0 copies tiles, and if kApart
  // the other warps run the epilogue
  static constexpr int kFirstGroup = kApart ? 2 : 1;
  // the first warp that runs the epilogue, and the number of such warps
  static constexpr int kFirstFinisher = kApart ? 1 : 4, kFinishers = kApart ? 7 : 4 * kGroups;
  static constexpr int kThreads = 128 * (kFirstGroup + kGroups);
  static constexpr int kBlocksPerProcessor = kRows <= (OnHopper<Weight>::kInRegisters ? 16 : 64) ? 2 : 1;
  // Registers per thread: a multiprocessor's 65,536 divided by its threads, in multiples of 8; the
  // multiplying groups then also take the registers that the other groups release.
  static constexpr int kShare = (65536 / (kThreads * kBlocksPerProcessor)) / 8 * 8, kKept = kApart ? 56 : 24;
  static constexpr int kTaken = kShare + (kShare - kKept) * kFirstGroup / kGroups / 8 * 8;
  static constexpr uint32_t kABytes = OnHopper<Weight>::kBytes, kStageBytes = kABytes + kRows * 128;
  static constexpr int kTileBytes = kRows * kHeadPitch * 4;
  static constexpr int kFit = ((224 << 10) / kBlocksPerProcessor - kTileBytes) / kStageBytes, kStages = kFit < 6 ? kFit : 6;
  static_assert(kFirstGroup * kKept + kGroups * kTaken <= (kFirstGroup + kGroups) * kShare && kTaken <= 256);
  // stages after which sums are added to the second set of registers
  static constexpr int kPromotion = 512 / kHopperDepth;
};

/// A finished tile that the multiplying groups pass to the epilogue, in shared memory behind the ring; there
/// is one at a time.
template <class T>
struct FinishedTile {
  float* values;  // [kRows][kHeadPitch]
  uint64_t *full, *empty;

  static constexpr size_t kBytes = 2 * sizeof(uint64_t) + T::kTileBytes;

  __device__ __forceinline__ explicit FinishedTile(const Ring<T>& ring)
      : values(reinterpret_cast<float*>(ring.empty + T::kStages + 2)), full(ring.empty + T::kStages), empty(full + 1) {}
  __device__ __forceinline__ void make_barriers() const {
    barrier_init(full, 4 * T::kGroups);
    barrier_init(empty, T::kFinishers);
  }
};

/// On devices without wgmma the kernel's body is a trap; it is never launched there (has_wgmma).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

/// Calls visit(first row, first output, parity of the finished tile) for every tile of this block, in the
/// same order in all its warps. Rows vary fastest, so that blocks which run at the same time read the same
/// weights.
template <class T, class Visit>
__device__ __forceinline__ void for_each_tile(int rows, int tiles, const Visit& visit) {
  const int down = (rows + T::kRows - 1) / T::kRows;
  unsigned parity = 0;
  for (int tile = int(blockIdx.x); tile < tiles; tile += int(gridDim.x), parity ^= 1) {
    visit(tile % down * T::kRows, tile / down * kHeadOutputs, parity);
  }
}

/// Fills the stages of one tile, beginning at position `at` of the ring.
template <class T, class Weight>
__device__ __forceinline__ void fill_stages(const Ring<T>& ring, RingPlace<T::kStages>& at, const CUtensorMap& w,
                                            const CUtensorMap& h, int output0, int row0, int stages) {
  for (int stage = 0; stage < stages; ++stage, at.advance()) {
    uint64_t* const full = &ring.full[at.stage];
    barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
    barrier_arrive_expecting(full, T::kStageBytes);
    OnHopper<Weight>::copy(ring.a(at.stage), w, output0, stage * kHopperDepth, full);
    copy_box(ring.b(at.stage), h, stage * kHopperDepth, row0, full);
  }
}

/// sums (+)= products of one stage, for a group's 64 outputs. `add` 0 starts the sums from zero. On return
/// the products of this step still run and may read `left`; `settled` is called when those of the previous
/// stage have ended.
template <class T, class Weight, int kParts, class Settled>
__device__ __forceinline__ void multiply_group(float (&sums)[T::kRows / 2], uint32_t (&left)[2][kParts][4],
                                               const Ring<T>& ring, int stage, int group, int add,
                                               const Settled& settled) {
  using W = OnHopper<Weight>;
  constexpr int kSteps = kHopperDepth / 16;
  const uint64_t rows = operand_descriptor(false, ring.b(stage));
  if constexpr (W::kInRegisters) {
    const int output = 64 * group + int(threadIdx.x) / 32 % 4 * 16;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      W::fragment(ring.a(stage), output, 16 * i, left[i % 2]);
      wgmma_fence();
#pragma unroll
      for (int p = kParts - 1; p >= 0; --p) {
        wgmma_bf16<false>(sums, left[i % 2][p], deeper(rows, false, i), i == 0 && p == kParts - 1 ? add : 1);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (i == 0) settled();
    }
  } else {
    static_assert(kParts == 1);
    const uint64_t outputs = operand_descriptor(W::kLines, ring.a(stage) + hopper_byte(W::kLines, 64 * group, 0));
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      wgmma_bf16<W::kLines, false>(sums, deeper(outputs, W::kLines, i), deeper(rows, false, i), i == 0 ? add : 1);
    }
    wgmma_commit();
    wgmma_wait<1>();
    settled();
  }
}

/// Multiplies all stages of a tile, beginning at position `at` of the ring, for a group's 64 outputs, and
/// sums into `promoted`.
template <class T, class Weight, int kParts>
__device__ __forceinline__ void drain_stages(float (&promoted)[T::kRows / 2], const Ring<T>& ring,
                                             RingPlace<T::kStages>& at, int group, int stages) {
  const bool first_lane = threadIdx.x % 32 == 0;
  float sums[T::kRows / 2];
  // A running product still reads its fragments, so the next step's fragments use a second set of registers.
  [[maybe_unused]] uint32_t left[2][kParts][4];
#pragma unroll
  for (float& sum : promoted) sum = 0.0f;
  for (int first = 0; first < stages; first += T::kPromotion) {
    const int last = first + T::kPromotion < stages ? first + T::kPromotion : stages;
    int held = -1;  // the stage that a running product may still read
    for (int stage = first; stage < last; ++stage, at.advance()) {
      barrier_wait(&ring.full[at.stage], at.parity);
      multiply_group<T, Weight, kParts>(sums, left, ring, at.stage, group, stage != first, [&] {
        if (held >= 0 && first_lane) barrier_arrive(&ring.empty[held]);
      });
      held = at.stage;
    }
    wgmma_wait<0>();
    wgmma_settle(sums);
    if (first_lane) barrier_arrive(&ring.empty[held]);
#pragma unroll
    for (int i = 0; i < T::kRows / 2; ++i) promoted[i] += sums[i];
  }
}

/// Run by the multiplying groups: stores their sums as the finished tile, once the previous finished tile has
/// been read.
template <class T, class Weight>
__device__ __forceinline__ void hand_over(const float (&promoted)[T::kRows / 2], const FinishedTile<T>& tile, int group,
                                          unsigned parity) {
  const int warp = int(threadIdx.x) / 32 % 4, lane = int(threadIdx.x) % 32;
  const int output = 64 * group + 16 * warp + OnHopper<Weight>::line(lane / 4);
  barrier_wait(tile.empty, parity ^ 1);
#pragma unroll
  for (int i = 0; i < T::kRows / 2; ++i) {
    tile.values[(i / 4 * 8 + lane % 4 * 2 + i % 2) * kHeadPitch + output + i / 2 % 2 * 8] = promoted[i];
  }
  __syncwarp();
  if (lane == 0) barrier_arrive(tile.full);
}

/// Run by the warps that finish tiles: calls epilogue.row() for every row.
template <class T, class Epilogue>
__device__ __forceinline__ void finish_tile(const FinishedTile<T>& tile, int row0, int output0, int rows,
                                            const Epilogue& epilogue, unsigned parity) {
  barrier_wait(tile.full, parity);
  finish_rows<T::kRows>(tile.values, int(threadIdx.x) / 32 - T::kFirstFinisher, T::kFinishers, row0, rows, output0, epilogue);
  __syncwarp();
  if (threadIdx.x % 32 == 0) barrier_arrive(tile.empty);
}

/// Run by a multiplying group: computes its 64 outputs of every tile of this block, and runs the epilogue
/// unless kApart.
template <class T, class Weight, int kParts, class Epilogue>
__device__ __forceinline__ void multiply_tiles(const Ring<T>& ring, const FinishedTile<T>& finished, int group, int rows,
                                               int tiles, int stages, const Epilogue& epilogue) {
  RingPlace<T::kStages> at;
  float promoted[T::kRows / 2];
  for_each_tile<T>(rows, tiles, [&](int row0, int output0, unsigned parity) {
    drain_stages<T, Weight, kParts>(promoted, ring, at, group, stages);
    hand_over<T, Weight>(promoted, finished, group, parity);
    if constexpr (!T::kApart) finish_tile<T>(finished, row0, output0, rows, epilogue, parity);
  });
}

#endif

/// Persistent version of head_tile_kernel for all `tiles` of 128 outputs and kRows rows: block b processes
/// every gridDim.x-th tile, from tile b on.
template <class Weight, int kRows, int kParts, class Epilogue>
__global__ void __launch_bounds__(HopperHeadTile<Weight, kRows>::kThreads,
                                  HopperHeadTile<Weight, kRows>::kBlocksPerProcessor)
    head_tile_sm90_kernel(const __grid_constant__ CUtensorMap w, const __grid_constant__ CUtensorMap h, int rows,
                          int depth, int tiles, Epilogue epilogue) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using T = HopperHeadTile<Weight, kRows>;
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const Ring<T> ring(shared);
  const FinishedTile<T> finished(ring);
  if (threadIdx.x == 0) {
    prefetch_map(w);
    prefetch_map(h);
    ring.make_barriers();
    finished.make_barriers();
    barriers_made();
  }
  await_predecessor();
  __syncthreads();
  const int stages = (depth + kHopperDepth - 1) / kHopperDepth, group = group_of_warps() - T::kFirstGroup;
  if (group >= 0) {
    take_registers<T::kTaken>();
    multiply_tiles<T, Weight, kParts>(ring, finished, group, rows, tiles, stages, epilogue);
    return;
  }
  give_registers_back<T::kKept>();
  if (threadIdx.x == 0) {
    RingPlace<T::kStages> at;
    for_each_tile<T>(rows, tiles, [&](int row0, int output0, unsigned) {
      fill_stages<T, Weight>(ring, at, w, h, output0, row0, stages);
    });
  }
  if constexpr (T::kApart) {
    if (threadIdx.x < 32) return;
    for_each_tile<T>(rows, tiles, [&](int row0, int output0, unsigned parity) {
      finish_tile<T>(finished, row0, output0, rows, epilogue, parity);
    });
  }
#else
  __trap();  // machine code for another device: fails instead of computing nothing
#endif
}

template <class Weight, int kRows, int kParts, class Epilogue>
void launch_head_tile_sm90(const Stream& stream, const HeadWeight& w, const HeadRows& h, const Epilogue& epilogue) {
  using T = HopperHeadTile<Weight, kRows>;
  const CUtensorMap rows = tensor_map(h.data, h.rows, w.depth, h.pitch, kRows, "the head's rows");
  static const int resident =
      ::hone::cuda::device_attribute(cudaDevAttrMultiProcessorCount) * T::kBlocksPerProcessor;
  const int tiles = (h.rows + kRows - 1) / kRows * head_tiles(w.outputs);
  HONE_LAUNCH_EARLY((head_tile_sm90_kernel<Weight, kRows, kParts, Epilogue>), unsigned(std::min(tiles, std::max(resident, 1))),
              T::kThreads, Ring<T>::kBytes + FinishedTile<T>::kBytes, stream, OnHopper<Weight>::map(w), rows, h.rows,
              w.depth, tiles, epilogue);
}

}  // namespace hone::kernels::cuda
