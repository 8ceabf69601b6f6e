// Runs one matrix pass of the output head, with the kernel for the device. Both kernels support every head
// (lm_head.cc requires 16-byte aligned rows), so only the device decides, never the number of rows: the
// engine's logits and the trainer's must have the same bits.
#pragma once

#include "kernels/cuda/lm_head_tile.cuh"
#include "kernels/cuda/lm_head_tile_sm90.cuh"
#include "kernels/cuda/matmul.h"

namespace hone::kernels::cuda {

/// Calls epilogue.row() for every row of h (there must be one) and every 128 outputs of w, in tiles of kRows
/// rows.
template <class Weight, int kRows, int kParts, class Epilogue>
void head_pass(const Stream& stream, const HeadWeight& w, const HeadRows& h, const Epilogue& epilogue) {
  if constexpr (::hone::cuda::kSm90Built) {
    if (has_wgmma()) return launch_head_tile_sm90<Weight, kRows, kParts>(stream, w, h, epilogue);
  }
  launch_head_tile<Weight, RowsByDepth<kRows>, kParts>(stream, w, h, epilogue);
}

}  // namespace hone::kernels::cuda
