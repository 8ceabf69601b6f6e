// First-fit decreasing: sequences into micro-batches of at most `budget` tokens, and back.
#pragma once

#include <cstdint>
#include <vector>

namespace hone::trainer {

/// The sequences of one micro-batch, ascending by index.
struct MicroBatch {
  std::vector<int32_t> sequences;
  int64_t tokens = 0;
};

/// lengths[i] > 0 tokens each. A sequence longer than `budget` gets a micro-batch of its own. Longest first,
/// ties by index, each into the first micro-batch with room: the same packing for the same lengths.
/// Throws kShape naming the sequence if a length is not positive.
std::vector<MicroBatch> pack_sequences(const std::vector<int64_t>& lengths, int64_t budget);

}  // namespace hone::trainer
