// Whether a way to split a step over threads is worth it right now: learnt from the steps themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace hone::engine {

/// A step is well under a millisecond, and a helper that another process keeps off its core makes it wait for
/// a whole time slice. So: steps are split as long as that gains. `ledger` sums what split steps gained over
/// the price of the same rows unsplit (on one thread, or split in another way); when it falls below the loss allowed,
/// steps stay unsplit for a while, twice as long after each failure, until splitting has paid for some time: a single
/// stall, which may cost as much as a busy core does in many steps, is soon forgotten. One step in kProbeEvery is not
/// split, to keep that price fresh. The choice never changes a bit of any result, only its time.
class SplitGovernor {
 public:
  /// Asked once per step that could be split.
  bool split() const { return single_steps_left_ == 0; }

  /// What the step took. `rows` is its size in any unit proportional to cost.
  void record(bool was_split, double rows, double seconds) {
    if (!was_split) {
      const double price = seconds / rows;
      if (first_steps_ > 0) {  // the very first also touch memory that nobody has touched yet
        price_ = std::min(price_, price);
        --first_steps_;
      } else {  // interruptions only ever make a step dearer: fall fast, rise slowly
        price_ += (price < price_ ? 0.5 : 0.2) * (price - price_);
      }
      if (single_steps_left_ > 0) --single_steps_left_;
      return;
    }
    const double alone = price_ * rows;
    ledger_ = std::min(ledger_ + alone - seconds, kAllowedLossSteps * alone);
    if (ledger_ < -kAllowedLossSteps * alone) {
      single_steps_left_ = backoff_;
      backoff_ = std::min(2 * backoff_, kLongestBackoff);
      ledger_ = 0;
      good_steps_ = 0;
      return;
    }
    ++good_steps_;
    if (good_steps_ % kForgetAfter == 0 && ledger_ > 0) backoff_ = kShortestBackoff;
    if (good_steps_ % kProbeEvery == 0) single_steps_left_ = 1;
  }

 private:
  static constexpr double kAllowedLossSteps = 3.0;
  static constexpr int32_t kFirstSteps = 4, kProbeEvery = 128, kForgetAfter = 32;
  static constexpr int32_t kShortestBackoff = 16, kLongestBackoff = 8192;

  double price_ = std::numeric_limits<double>::infinity();  // seconds per row, unsplit
  double ledger_ = 0;  // seconds
  int32_t first_steps_ = kFirstSteps, single_steps_left_ = kFirstSteps, backoff_ = kShortestBackoff, good_steps_ = 0;
};

}  // namespace hone::engine
