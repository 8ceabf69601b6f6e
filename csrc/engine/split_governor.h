// Whether a way to split a step over threads is worth it right now: learnt from the steps themselves.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

namespace hone::engine {

/// A step is well under a millisecond, and a helper that another process keeps off its core makes it wait for
/// a whole time slice. So steps are split as long as that gains over the price of the same work unsplit (on one thread,
/// or split in another way): `ledger` ends it at once when a few steps lose much, a window of split steps when they lose
/// a little all together. Steps then stay unsplit for a while, twice as long after each failure, until a window gains: a
/// single stall, which may cost as much as a busy core does in many steps, is soon forgotten. One step in
/// kProbeEvery is not split, to keep the price fresh. The choice never changes a bit of any result, only its time.
class SplitGovernor {
 public:
  /// Asked once per step that could be split.
  bool split() const { return single_steps_left_ == 0; }

  /// What the step took. `cost` is its size in any unit that time is about proportional to.
  void record(bool was_split, double cost, double seconds) {
    if (!was_split) {
      const double price = seconds / cost;
      if (first_steps_ > 0) {  // the very first also touch memory that nobody has touched yet
        price_ = std::min(price_, price);
        --first_steps_;
      } else {  // interruptions only ever make a step dearer: fall fast, rise slowly
        price_ += (price < price_ ? 0.5 : 0.2) * (price - price_);
      }
      if (single_steps_left_ > 0) --single_steps_left_;
      helpers_sleep_ = true;
      return;
    }
    if (std::exchange(helpers_sleep_, false)) return;  // waking them is no part of what split steps cost
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

  double price_ = std::numeric_limits<double>::infinity();  // seconds per unit of cost, unsplit
  double ledger_ = 0, gain_ = 0;  // seconds: of late, never more than a few steps' worth; of the window
  int32_t first_steps_ = kFirstSteps, single_steps_left_ = kFirstSteps, backoff_ = kShortestBackoff, split_steps_ = 0;
  bool helpers_sleep_ = true;
};

}  // namespace hone::engine
