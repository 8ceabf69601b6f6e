// Copies KV pages to host memory, so that other sequences can use the pages, and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/page_pool.h"

namespace hone::engine {

/// Copies pages to host memory and back, bit for bit, and measures the time. `pool` must outlive it.
class PageSwap {
 public:
  explicit PageSwap(PagePool& pool) : pool_(pool) {}

  /// Appends copies of the pages from index `first` on to `saved`, releases all pages, and returns the number
  /// of pages copied.
  int32_t out(std::vector<int32_t>& pages, size_t first, std::vector<std::byte>& saved);
  /// Takes `count` free pages, fills them from the start of `saved`, appends them to `pages`, and frees
  /// `saved`.
  void in(std::vector<std::byte>& saved, int32_t count, std::vector<int32_t>& pages);

  /// Wall time spent copying.
  double seconds() const { return seconds_; }

 private:
  PagePool& pool_;
  double seconds_ = 0;
};

}  // namespace hone::engine
