#include "trainer/packer.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"

namespace hone::trainer {

std::vector<MicroBatch> pack_sequences(const std::vector<int64_t>& lengths, int64_t budget) {
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] <= 0) fail(Code::kShape, "pack_sequences: sequence %zu has %lld tokens.", i, (long long)lengths[i]);
  }
  std::vector<int32_t> order(lengths.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return lengths[size_t(a)] > lengths[size_t(b)]; });
  std::vector<MicroBatch> batches;
  for (int32_t i : order) {
    const int64_t length = lengths[size_t(i)];
    auto room = std::find_if(batches.begin(), batches.end(),
                             [&](const MicroBatch& batch) { return batch.tokens + length <= budget; });
    if (room == batches.end()) room = batches.emplace(batches.end());
    room->sequences.push_back(i);
    room->tokens += length;
  }
  for (MicroBatch& batch : batches) std::sort(batch.sequences.begin(), batch.sequences.end());
  return batches;
}

}  // namespace hone::trainer
