// Decides, from the times of earlier steps, whether splitting a step over threads is faster.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace hone::engine {

/// A step takes well under a millisecond; if another process occupies a helper thread's core, the step waits
/// for a whole time slice. So steps are split only while that is faster than the same work unsplit (on one
/// thread, or split in another way). `ledger` stops splitting immediately when a few steps lose much time; a
/// window of split steps stops it when they lose a little in total. Steps then stay unsplit for a while,
/// twice as long after each failure, until a window gains: a single stall, which may cost as much as many
/// slightly slower steps, thus has a short effect. One step in kProbeEvery is not split, to keep the
/// comparison current. Splitting changes no bit of a result.
class SplitGovernor {
 public:
  /// Whether to split the next step; call once per step that can be split.
  bool split() const { return single_steps_left_ == 0; }

  /// Records a step's time. `cost` is its size in any unit roughly proportional to time.
  void record(bool was_split, double cost, double seconds) {
    if (!was_split) {
      const double price = seconds / cost;
      if (first_steps_ > 0) {  // the first steps are slower because they touch new memory
        price_ = std::min(price_, price);
        --first_steps_;
      } else {  // falls fast and rises slowly, since interruptions only raise the price
        price_ += (price < price_ ? 0.5 : 0.2) * (price - price_);
      }
      if (single_steps_left_ > 0) --single_steps_left_;
      helpers_sleep_ = true;
      return;
    }
    // the time to wake the helpers is not a cost of splitting
    if (std::exchange(helpers_sleep_, false)) return;
    const double alone = price_ * cost, most = kAllowedLossSteps * alone;
    ledger_ = std::min(ledger_ + alone - seconds, most);
    gain_ += alone - seconds;
    const bool window_ends = ++split_steps_ % kWindow == 0;
    if (ledger_ < -most || (window_ends && gain_ <= 0)) {
      single_steps_left_ = backoff_;
      backoff_ = std::min(2 * backoff_, kLongestBackoff);
      ledger_ = gain_ = 0;
      split_steps_ = 0;
      return;
    }
    if (window_ends) backoff_ = kShortestBackoff, gain_ = 0;
    if (split_steps_ % kProbeEvery == 0) single_steps_left_ = 1;
  }

 private:
  static constexpr double kAllowedLossSteps = 3.0;
  static constexpr int32_t kFirstSteps = 4, kProbeEvery = 128, kWindow = 32;
  static constexpr int32_t kShortestBackoff = 16, kLongestBackoff = 8192;

  double price_ = std::numeric_limits<double>::infinity();  // seconds per unit of cost of unsplit steps
  // seconds gained or lost: recently, limited to the time of a few steps; and in the current window
  double ledger_ = 0, gain_ = 0;
  int32_t first_steps_ = kFirstSteps, single_steps_left_ = kFirstSteps, backoff_ = kShortestBackoff, split_steps_ = 0;
  bool helpers_sleep_ = true;
};

}  // namespace hone::engine
