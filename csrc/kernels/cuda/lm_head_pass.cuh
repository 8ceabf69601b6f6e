// A pass of the head over its weights; the only place that chooses the kernel for the device. Every head fits both
// kernels (lm_head.cc requires rows that start at 16 bytes), so the device decides for all heads, and the number of
// rows never does: the actor's logits and the trainer's must have the same bits.
#pragma once

#include "kernels/cuda/lm_head_tile.cuh"
#include "kernels/cuda/lm_head_tile_sm90.cuh"
#include "kernels/cuda/matmul.h"

namespace hone::kernels::cuda {

/// Calls epilogue.row() for every row of h, at least one, and every 128 outputs of w, in tiles of kRows rows.
template <class Weight, int kRows, int kParts, class Epilogue>
void head_pass(const Stream& stream, const HeadWeight& w, const HeadRows& h, const Epilogue& epilogue) {
  if constexpr (::hone::cuda::kSm90Built) {
    if (has_wgmma()) return launch_head_tile_sm90<Weight, kRows, kParts>(stream, w, h, epilogue);
  }
  launch_head_tile<Weight, RowsByDepth<kRows>, kParts>(stream, w, h, epilogue);
}

}  // namespace hone::kernels::cuda
