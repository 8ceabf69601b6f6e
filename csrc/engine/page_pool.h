// The paged KV cache: a fixed number of reference-counted pages, which can be copied to host memory and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "kernels/attention.h"
#include "model/config.h"

namespace hone::engine {

/// Bytes of one page: the keys and values of page_tokens tokens in all layers.
int64_t page_bytes(const model::ModelConfig& model, int32_t page_tokens, DType storage);

/// P pages of W tokens; page p is page p of every layer. A page is in use while it has references. Memory is
/// reserved once, reads as zero until written, and is touched only as pages come into use (of the pages never
/// used, take() returns the lowest).
class PagePool {
 public:
  /// storage: kF32 or kBF16; a GPU always uses kBF16 and allocates its memory at once. Throws kOutOfMemory
  /// naming the bytes needed. `stream` performs the copies and must outlive the pool.
  PagePool(const model::ModelConfig& model, int32_t pages, int32_t page_tokens, DType storage = DType::kF32,
           const Stream& stream = {});
  ~PagePool();
  PagePool(const PagePool&) = delete;
  PagePool& operator=(const PagePool&) = delete;

  int32_t total() const { return total_; }
  int32_t free_pages() const { return static_cast<int32_t>(free_.size()); }
  int32_t page_tokens() const { return page_tokens_; }
  /// Number of pages that hold `tokens` tokens.
  int32_t pages_for(int64_t tokens) const {
    return static_cast<int32_t>((tokens + page_tokens_ - 1) / page_tokens_);
  }

  /// Returns a page with one reference. Throws kInternal if none is free: the caller must check free_pages()
  /// first.
  int32_t take();
  void retain(int32_t page) { ++references_[static_cast<size_t>(page)]; }
  /// Drops one reference; after the last one the page is free.
  void release(int32_t page);
  int32_t references(int32_t page) const { return references_[static_cast<size_t>(page)]; }

  /// Bytes of one page over all layers.
  int64_t page_bytes() const { return page_bytes_; }
  /// Copy a page bit for bit: to another page, to page_bytes() of host memory, and back.
  void copy(int32_t from, int32_t to);
  void save(int32_t page, std::byte* out) const;
  void load(int32_t page, const std::byte* in);
  /// Zeroes all pages. Must be called after non-finite values were computed, since unused entries of a page
  /// enter its next user's sums with factor 0.
  void scrub();

  /// Keys and values of one layer. layer: index among the attention layers (ModelConfig::index_in_kind).
  kernels::KvPages layer(int64_t layer) const;

 private:
  /// One layer's keys, or its values: one page of them, and how many bytes of a page come before.
  struct Plane {
    int64_t kv_heads, head_dim, bytes, before;
  };
  std::byte* at(const Plane& plane, int32_t page) const { return memory_ + plane.before * total_ + page * plane.bytes; }

  Stream stream_;
  int32_t total_, page_tokens_;
  DType storage_;
  std::vector<Plane> planes_;  // of layers of attention: keys of layer l are plane 2l, values 2l + 1
  int64_t page_bytes_ = 0;
  std::byte* memory_ = nullptr;  // [planes][P][K W D]
  Arena device_;  // owns memory_ on a GPU
  std::vector<int32_t> references_, free_;
};

}  // namespace hone::engine
