#include "engine/page_swap.h"

#include "core/stopwatch.h"

namespace hone::engine {

int32_t PageSwap::out(std::vector<int32_t>& pages, size_t first, std::vector<std::byte>& saved) {
  const auto bytes = size_t(pool_.page_bytes()), count = pages.size() - first;
  {
    const Stopwatch watch(seconds_);
    saved.resize(count * bytes);
    for (size_t i = 0; i < count; ++i) pool_.save(pages[first + i], saved.data() + i * bytes);
  }
  for (const int32_t page : pages) pool_.release(page);
  pages.clear();
  return int32_t(count);
}

void PageSwap::in(std::vector<std::byte>& saved, int32_t count, std::vector<int32_t>& pages) {
  const Stopwatch watch(seconds_);
  const auto bytes = size_t(pool_.page_bytes());
  for (size_t i = 0; i < size_t(count); ++i) {
    pages.push_back(pool_.take());
    pool_.load(pages.back(), saved.data() + i * bytes);
  }
  saved = {};
}

}  // namespace hone::engine
