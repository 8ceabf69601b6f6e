// The head's matrix loop on Hopper: one thread uses the copy engine to fill a ring of stages of 64 k; two groups of
// four warps multiply 64 outputs each with the same rows (wgmma). Order of the sums, promotion and epilogues are those
// of lm_head_tile.cuh; the instruction rounds differently, so a device uses one of the two for everything.
#pragma once

#include "kernels/cuda/lm_head_tile.cuh"
#include "kernels/cuda/lm_head_weight_sm90.cuh"
#include "kernels/cuda/tma_ring.cuh"
#include "kernels/cuda/wgmma.cuh"

namespace hone::kernels::cuda {

/// 128 outputs x kRows. With few rows the cost is reading the weights: two blocks per multiprocessor, so that one reads
/// while the other finishes, where registers allow it (64 rows beside two sets of fragments do not).
template <class Weight, int kRows_>
struct HopperHeadTile {
  static constexpr int kRows = kRows_, kGroups = kHeadOutputs / 64, kThreads = 128 * (kGroups + 1);
  static constexpr int kBlocksPerProcessor = kRows <= (OnHopper<Weight>::kInRegisters ? 16 : 64) ? 2 : 1;
  static constexpr uint32_t kABytes = OnHopper<Weight>::kBytes, kStageBytes = kABytes + kRows * 128;
  static constexpr int kFit = (224 << 10) / kBlocksPerProcessor / kStageBytes, kStages = kFit < 6 ? kFit : 6;
  static constexpr int kPromotion = 512 / kHopperDepth;  // stages between promotions
  static constexpr bool kMovesRegisters = kRows >= 128;  // 64 sums and 64 promoted ones do not fit an even share
};

/// The body is a trap without wgmma: such a device never calls it (has_wgmma).
#ifdef __CUDA_ARCH_FEAT_SM90_ALL

template <class T, class Weight>
__device__ __forceinline__ void fill_stages(const Ring<T>& ring, const CUtensorMap& w, const CUtensorMap& h, int output0,
                                            int row0, int stages) {
  RingPlace<T::kStages> at;
  for (int stage = 0; stage < stages; ++stage, at.advance()) {
    uint64_t* const full = &ring.full[at.stage];
    barrier_wait(&ring.empty[at.stage], at.parity ^ 1);
    barrier_arrive_expecting(full, T::kStageBytes);
    OnHopper<Weight>::copy(ring.a(at.stage), w, output0, stage * kHopperDepth, full);
    copy_box(ring.b(at.stage), h, stage * kHopperDepth, row0, full);
  }
}

/// sums (+)= one stage, for the 64 outputs of a group. `add` 0 starts the sums from zero. The products of this step
/// still run on return and may read `left`; `settled` is called when those of the stage before have ended.
template <class T, class Weight, int kParts, class Settled>
__device__ __forceinline__ void multiply_group(float (&sums)[T::kRows / 2], uint32_t (&left)[2][kParts][4],
                                               const Ring<T>& ring, int stage, int group, int add,
                                               const Settled& settled) {
  using W = OnHopper<Weight>;
  constexpr int kSteps = kHopperDepth / 16;
  const auto rows_at = [&](int i) {
    return hopper_descriptor(false, shared_address(ring.b(stage)) + i * hopper_step(false));
  };
  if constexpr (W::kInRegisters) {
    const int output = 64 * group + int(threadIdx.x) / 32 % 4 * 16;
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      W::fragment(ring.a(stage), output, 16 * i, left[i % 2]);
      wgmma_fence();
#pragma unroll
      for (int p = kParts - 1; p >= 0; --p) {
        wgmma_bf16<false>(sums, left[i % 2][p], rows_at(i), i == 0 && p == kParts - 1 ? add : 1);
      }
      wgmma_commit();
      wgmma_wait<1>();
      if (i == 0) settled();
    }
  } else {
    static_assert(kParts == 1);
    const uint32_t a = shared_address(ring.a(stage)) + hopper_byte(W::kLines, 64 * group, 0);
    wgmma_fence();
#pragma unroll
    for (int i = 0; i < kSteps; ++i) {
      wgmma_bf16<W::kLines, false>(sums, hopper_descriptor(W::kLines, a + i * hopper_step(W::kLines)), rows_at(i),
                                   i == 0 ? add : 1);
    }
    wgmma_commit();
    wgmma_wait<1>();
    settled();
  }
}

/// All stages of a group's 64 outputs; the sums are left in `promoted`.
template <class T, class Weight, int kParts>
__device__ __forceinline__ void drain_stages(float (&promoted)[T::kRows / 2], const Ring<T>& ring, int group, int stages) {
  const bool first_lane = threadIdx.x % 32 == 0;
  float sums[T::kRows / 2];
  // A product reads its fragments until it is waited for, so those of the next step go to a second set.
  [[maybe_unused]] uint32_t left[2][kParts][4];
  RingPlace<T::kStages> at;
  int held = -1;  // the stage that a product may still read
#pragma unroll
  for (float& sum : promoted) sum = 0.0f;
  for (int first = 0; first < stages; first += T::kPromotion) {
    const int last = first + T::kPromotion < stages ? first + T::kPromotion : stages;
    for (int stage = first; stage < last; ++stage, at.advance()) {
      barrier_wait(&ring.full[at.stage], at.parity);
      multiply_group<T, Weight, kParts>(sums, left, ring, at.stage, group, stage != first, [&] {
        if (held >= 0 && first_lane) barrier_arrive(&ring.empty[held]);
      });
      held = at.stage;
    }
    wgmma_wait<0>();
    wgmma_settle(sums);
#pragma unroll
    for (int i = 0; i < T::kRows / 2; ++i) promoted[i] += sums[i];
  }
}

/// For the multiplying warps only: a phase of `barrier` ends when all of them have arrived.
__device__ __forceinline__ void meet(uint64_t* barrier, unsigned phase) {
  barrier_arrive(barrier);
  barrier_wait(barrier, phase);
}

/// Moves the registers of the two groups into the finished tile, in the memory of the stages; then runs the epilogue.
template <class T, class Weight, class Epilogue>
__device__ __forceinline__ void finish_tile(const float (&promoted)[T::kRows / 2], float* tile, uint64_t* met, int group,
                                            int row0, int rows, const Epilogue& epilogue) {
  const int warp = int(threadIdx.x) / 32 % 4, lane = threadIdx.x % 32;
  const int output = 64 * group + 16 * warp + OnHopper<Weight>::line(lane / 4);
  meet(met, 0);  // nobody reads the stages any more
#pragma unroll
  for (int i = 0; i < T::kRows / 2; ++i) {
    tile[(i / 4 * 8 + lane % 4 * 2 + i % 2) * kHeadPitch + output + i / 2 % 2 * 8] = promoted[i];
  }
  meet(met, 1);
  finish_rows<T::kRows>(tile, 4 * group + warp, 4 * T::kGroups, row0, rows, epilogue);
}

#endif

/// As head_tile_kernel: block (x, y) has rows from x kRows, outputs from y 128.
template <class Weight, int kRows, int kParts, class Epilogue>
__global__ void __launch_bounds__(HopperHeadTile<Weight, kRows>::kThreads,
                                  HopperHeadTile<Weight, kRows>::kBlocksPerProcessor)
    head_tile_sm90_kernel(const __grid_constant__ CUtensorMap w, const __grid_constant__ CUtensorMap h, int rows,
                          int depth, Epilogue epilogue) {
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  using T = HopperHeadTile<Weight, kRows>;
  HONE_DYNAMIC_SHARED(unsigned char, shared);
  const Ring<T> ring(shared);
  uint64_t* const met = ring.empty + T::kStages;
  if (threadIdx.x == 0) {
    prefetch_map(w);
    prefetch_map(h);
    ring.make_barriers();
    barrier_init(met, 128 * T::kGroups);
    barriers_made();
  }
  __syncthreads();
  const int row0 = blockIdx.x * kRows, stages = (depth + kHopperDepth - 1) / kHopperDepth;
  if (threadIdx.x < 128) {
    if constexpr (T::kMovesRegisters) give_registers_back<40>();
    if (threadIdx.x == 0) fill_stages<T, Weight>(ring, w, h, blockIdx.y * kHeadOutputs, row0, stages);
  } else {
    if constexpr (T::kMovesRegisters) take_registers<232>();
    const int group = int(threadIdx.x) / 128 - 1;
    float promoted[kRows / 2];
    drain_stages<T, Weight, kParts>(promoted, ring, group, stages);
    finish_tile<T, Weight>(promoted, reinterpret_cast<float*>(ring.stages), met, group, row0, rows, epilogue);
  }
#else
  __trap();  // machine code for another device: never fail silently
#endif
}

template <class Weight, int kRows, int kParts, class Epilogue>
void launch_head_tile_sm90(const Stream& stream, const HeadWeight& w, const HeadRows& h, const Epilogue& epilogue) {
  using T = HopperHeadTile<Weight, kRows>;
  static_assert(kRows * kHeadPitch * 4 <= T::kStages * T::kStageBytes, "the finished tile lies where the stages did");
  const CUtensorMap rows = tensor_map(h.data, h.rows, w.depth, h.pitch, kRows, "the head's rows");
  HONE_LAUNCH((head_tile_sm90_kernel<Weight, kRows, kParts, Epilogue>), head_grid<kRows>(w, h), T::kThreads,
              Ring<T>::kBytes + sizeof(uint64_t), stream, OnHopper<Weight>::map(w), rows, h.rows, w.depth, epilogue);
}

}  // namespace hone::kernels::cuda
