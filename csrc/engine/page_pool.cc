#include "engine/page_pool.h"

#include <sys/mman.h>

#include "core/device.h"
#include "core/error.h"

namespace hone::engine {

int64_t page_bytes(const model::ModelConfig& model, int32_t page_tokens, DType storage) {
  int64_t width = 0;
  for (int64_t l = 0; l < model.layers; ++l) width += model.attends(l) ? 2 * model.kv_width(l) : 0;
  return width * page_tokens * dtype_bytes(storage);
}

PagePool::PagePool(const model::ModelConfig& model, int32_t pages, int32_t page_tokens, DType storage,
                   const Stream& stream)
    : stream_(stream),
      total_(pages),
      page_tokens_(page_tokens),
      storage_(storage),
      references_(static_cast<size_t>(pages), 0) {
  for (int64_t plane = 0; plane < 2 * model.layers; ++plane) {
    const int64_t l = plane / 2, bytes = model.kv_width(l) * page_tokens * dtype_bytes(storage);
    if (!model.attends(l)) continue;
    planes_.push_back({model.kv_heads_of(l), model.head_dim_of(l), bytes, page_bytes_});
    page_bytes_ += bytes;
  }
  int64_t wanted = 0;
  const bool overflows = __builtin_mul_overflow(page_bytes(), int64_t(pages), &wanted);
  const auto refuse = [&] {
    fail(Code::kOutOfMemory, "key/value cache needs %.2f GB for %d pages of %d tokens. Lower engine.pages.",
         double(page_bytes()) * double(pages) * 1e-9, pages, page_tokens);
  };
  if (overflows) refuse();
  free_.reserve(static_cast<size_t>(pages));
  for (int32_t page = pages - 1; page >= 0; --page) free_.push_back(page);
  const auto bytes = static_cast<size_t>(wanted);
  if (stream.is_cuda()) {
    device_ = Arena(int64_t(bytes), "key/value cache (lower engine.pages)", Memory::kDevice);
    memory_ = static_cast<std::byte*>(device_.take(int64_t(bytes)));
    scrub();
    return;
  }
  // Anonymous memory reads as zero and takes no physical memory until it is touched.
  void* block = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (block == MAP_FAILED) refuse();
  madvise(block, bytes, MADV_HUGEPAGE);
  memory_ = static_cast<std::byte*>(block);
}

PagePool::~PagePool() {
  if (!stream_.is_cuda()) munmap(memory_, static_cast<size_t>(page_bytes() * total_));
}

int32_t PagePool::take() {
  if (free_.empty()) fail(Code::kInternal, "page pool: take() with no free page of %d", total_);
  const int32_t page = free_.back();
  free_.pop_back();
  references_[static_cast<size_t>(page)] = 1;
  return page;
}

void PagePool::release(int32_t page) {
  int32_t& count = references_[static_cast<size_t>(page)];
  if (count <= 0) fail(Code::kInternal, "page pool: page %d released without a reference", page);
  if (--count == 0) free_.push_back(page);
}

void PagePool::copy(int32_t from, int32_t to) {
  for (const Plane& plane : planes_) hone::copy(stream_, at(plane, to), at(plane, from), plane.bytes);
}

void PagePool::save(int32_t page, std::byte* out) const {
  for (const Plane& plane : planes_) {
    hone::copy(stream_, out, at(plane, page), plane.bytes);
    out += plane.bytes;
  }
  synchronize(stream_);
}

void PagePool::load(int32_t page, const std::byte* in) {
  for (const Plane& plane : planes_) {
    upload(stream_, at(plane, page), in, plane.bytes);
    in += plane.bytes;
  }
}

void PagePool::scrub() {
  const int64_t bytes = page_bytes() * total_;
  // Anonymous pages that the system dropped read as zero again.
  if (stream_.is_cuda() || madvise(memory_, static_cast<size_t>(bytes), MADV_DONTNEED) != 0) zero(stream_, memory_, bytes);
}

kernels::KvPages PagePool::layer(int64_t layer) const {
  kernels::KvPages pages;
  const Plane &keys = planes_[size_t(2 * layer)], &values = planes_[size_t(2 * layer + 1)];
  const int64_t elements = keys.bytes / dtype_bytes(storage_);
  pages.keys = {at(keys, 0), storage_, {total_, elements}};
  pages.values = {at(values, 0), storage_, {total_, elements}};
  pages.kv_heads = keys.kv_heads;
  pages.page_tokens = page_tokens_;
  pages.head_dim = keys.head_dim;
  return pages;
}

}  // namespace hone::engine
