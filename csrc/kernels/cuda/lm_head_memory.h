// Scratch memory of the output head's kernels.
#pragma once

#include "kernels/cuda/lm_head_tile.cuh"
#include "kernels/cuda/scratch.h"
#include "kernels/lm_head.h"

namespace hone::kernels::cuda {

/// Takes scratch from an arena and releases it at the end of the scope; later work on the same stream may
/// then reuse it.
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
