// Packs sequences into micro-batches of at most `budget` tokens: first-fit decreasing.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::trainer {

/// The sequences of one micro-batch, in ascending order of their indices.
struct MicroBatch {
  std::vector<int32_t> sequences;
  int64_t tokens = 0;
};

/// Packs sequences of lengths[i] > 0 tokens: longest first, ties by index, each into the first micro-batch
/// that has room. A sequence longer than `budget` gets a micro-batch of its own. Equal lengths give equal
/// packings. Throws kShape naming the sequence if a length is not positive.
std::vector<MicroBatch> pack_sequences(const std::vector<int64_t>& lengths, int64_t budget);

}  // namespace hone::trainer
