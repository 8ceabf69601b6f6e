#include "trainer/sharded_weights.h"

#include "trainer/rank_agreement.h"

namespace hone::trainer {

void ShardedWeights::divide(const WeightWindow::Source& source, const Stream& stream, const TrainerConfig& config) {
  window_.emplace(stream, source, config.weight_storage, config.arithmetic);
}

void ShardedWeights::written() {
  compared_ = false;
  whole_ = true;
  if (window_) window_->ends_changed();
}

void ShardedWeights::fetch() {
  if (!whole_) exchange_.gather(block_.flat().as<float>());
  whole_ = true;
}

void ShardedWeights::settle(const char* what) {
  if (!compared_) {
    const bool same = exchange_.same(block_.flat().as<float>());
    agree(ranks_, what, kept_failure([&] {
      if (!same) fail(Code::kState, "%s: the weights of rank %d differ from those of other ranks. Load the same on all.", what, ranks_.rank());
    }));
    compared_ = true;
  }
  if (window_ && whole_) forget_others();
}

void ShardedWeights::forget_others() {
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    const ShardBucket& bucket = layout_.buckets()[b];
    if (bucket.layer == block_.config().layers) continue;
    const ShardPart& own = layout_.part(b, ranks_.rank());
    const int64_t end = own.offset + own.count;
    block_.discard(bucket.offset, own.offset - bucket.offset);
    block_.discard(end, bucket.offset + bucket.count - end);
  }
  whole_ = false;
}

}  // namespace hone::trainer
