// How many rows the head's passes take at a time, and the scratch memory that makes.
#pragma once

#include <algorithm>

#include "kernels/cuda/lm_head_tile.cuh"
#include "kernels/lm_head.h"

namespace hone::kernels::cuda {

// Enough rows to fill the device with blocks; gradients of so many logits are 0.5 GB at a vocabulary of 131072.
inline constexpr int64_t kHeadChunk = 2048;
// A decode step's rows in one launch, so that the weights are read once.
inline constexpr int64_t kSampleChunk = 256;

/// Distance between rows of logits or their gradients: rows start at 16 bytes.
inline int64_t logit_pitch(int64_t vocabulary) { return (vocabulary + 7) / 8 * 8; }

/// Gives back at the end of the scope what was taken in it: what comes later on the same stream may have it.
struct HeadScratch {
  explicit HeadScratch(Arena* given) : arena(*given), mark(given->mark()) {}
  ~HeadScratch() { arena.release(mark); }
  HeadScratch(const HeadScratch&) = delete;
  HeadScratch& operator=(const HeadScratch&) = delete;
  Arena& arena;
  const int64_t mark;
};

inline HeadWeight head_weight(const PackedMatrix& w) { return {w.panels, w.k, int(w.n), int(w.k)}; }

}  // namespace hone::kernels::cuda
