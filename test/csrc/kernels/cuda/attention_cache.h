// A paged KV cache on the device, and running rows of a packed batch through it.
#pragma once

#include "attention_batch.h"
#include "core/device.h"

#ifdef HONE_HAVE_CUDA

namespace hone::test {

/// Sequences in randomly assigned pages. Pages that no row may read have id -1; positions that were not
/// written hold NaN.
class PagedCache {
 public:
  PagedCache(const AttentionShape& shape, int64_t page_tokens)
      : shape_(shape),
        page_tokens_(page_tokens),
        columns_((*std::max_element(shape.lengths.begin(), shape.lengths.end()) + page_tokens - 1) / page_tokens + 1),
        tables_(shape.lengths.size() * size_t(columns_), -1),
        pages_(pages(shape, page_tokens)),
        keys_(pages_ * shape.kv_width() * page_tokens),
        values_(pages_ * shape.kv_width() * page_tokens) {
    std::vector<int32_t> ids(static_cast<size_t>(pages_));
    std::iota(ids.begin(), ids.end(), 0);
    std::shuffle(ids.begin(), ids.end(), hone::test::random());
    for (size_t s = 0; s < shape.lengths.size(); ++s) {
      for (int64_t c = 0; c * page_tokens < shape.lengths[s]; ++c, ids.pop_back()) table(s, c) = ids.back();
    }
    spare_ = ids.back();
  }
  /// A cache with the same page tables, whose pages are not written.
  PagedCache empty_copy() const {
    PagedCache copy(shape_, page_tokens_);
    copy.tables_ = tables_;
    return copy;
  }
  kernels::KvPages view() const {
    const int64_t elements = shape_.kv_width() * page_tokens_;
    return {keys_.view(DType::kBF16, {pages_, elements}), values_.view(DType::kBF16, {pages_, elements}),
            shape_.kv_heads, page_tokens_, shape_.head_dim};
  }
  DeviceArray<int32_t> tables() const { return DeviceArray<int32_t>(tables_); }
  int64_t columns() const { return columns_; }
  int64_t table_tokens() const { return columns_ * page_tokens_; }
  std::vector<uint16_t> keys() const { return keys_.download(); }
  std::vector<uint16_t> values() const { return values_.download(); }
  /// Index of element 0 of a position's key: [page][key head][position in page][head dim].
  size_t place(int sequence, int position, int64_t kv_head) {
    const int64_t page = table(size_t(sequence), position / page_tokens_);
    return size_t(((page * shape_.kv_heads + kv_head) * page_tokens_ + position % page_tokens_) * shape_.head_dim);
  }
  /// Replaces by `id`, in the page table, pages that lie entirely below `position`, as if they had been
  /// released.
  void forget_below(size_t sequence, int position, int32_t id) {
    for (int64_t c = 0; (c + 1) * page_tokens_ <= position; ++c) table(sequence, c) = id;
  }
  /// Makes sequence `sequence` share the pages of positions below `tokens` with sequence `with`.
  void share(size_t sequence, size_t with, int tokens) {
    for (int64_t c = 0; c * page_tokens_ < tokens; ++c) table(sequence, c) = table(with, c);
  }
  /// A page that is never written and holds only NaN.
  int32_t spare() const { return spare_; }

 private:
  static int64_t pages(const AttentionShape& shape, int64_t page_tokens) {
    int64_t count = 3;
    for (const int n : shape.lengths) count += (n + page_tokens - 1) / page_tokens;
    return count;
  }
  int32_t& table(size_t sequence, int64_t column) { return tables_[sequence * size_t(columns_) + size_t(column)]; }

  AttentionShape shape_;
  int64_t page_tokens_, columns_;
  std::vector<int32_t> tables_;
  int64_t pages_;
  int32_t spare_ = -1;
  DeviceArray<uint16_t> keys_, values_;
};

struct Row {
  int sequence, position;  // sequence -1: padding
};

/// Rows [first, first + rows) of a step share the pages of positions below `tokens`.
struct Prefix {
  int first, rows, tokens;
};

/// The rows' sequences, positions, page tables and shared prefixes, on the device.
class Where {
 public:
  Where(const std::vector<Row>& rows, const PagedCache& cache, const std::vector<Prefix>& prefixes = {})
      : rows_(int64_t(rows.size())),
        columns_(cache.columns()),
        sequence_(column(rows, &Row::sequence)),
        position_(column(rows, &Row::position)),
        tables_(cache.tables()) {
    std::vector<int32_t> row(rows.size()), tokens(rows.size(), 0);
    std::iota(row.begin(), row.end(), 0);
    for (const Prefix& p : prefixes) {
      std::fill_n(row.begin() + p.first, p.rows, p.first);
      std::fill_n(tokens.begin() + p.first, p.rows, p.tokens);
    }
    prefix_row_ = DeviceArray<int32_t>(row), prefix_tokens_ = DeviceArray<int32_t>(tokens);
  }
  TensorView prefix_row() const { return prefix_row_.view(DType::kI32, {rows_}); }
  TensorView prefix_tokens() const { return prefix_tokens_.view(DType::kI32, {rows_}); }
  TensorView sequence() const { return sequence_.view(DType::kI32, {rows_}); }
  TensorView position() const { return position_.view(DType::kI32, {rows_}); }
  TensorView tables() const { return tables_.view(DType::kI32, {tables_.size() / columns_, columns_}); }

 private:
  static std::vector<int32_t> column(const std::vector<Row>& rows, int Row::*field) {
    std::vector<int32_t> out;
    for (const Row& row : rows) out.push_back(row.*field);
    return out;
  }
  int64_t rows_, columns_;
  DeviceArray<int32_t> sequence_, position_, tables_, prefix_row_{0}, prefix_tokens_{0};
};

/// Runs the rows of a batch through a paged cache.
class PagedRun {
 public:
  PagedRun(const PackedBatch& batch, int64_t page_tokens)
      : batch_(batch),
        cache(batch.shape, page_tokens),
        scratch_tokens(cache.table_tokens()),
        out_(poison(batch.shape.tokens() * batch.shape.q_width())) {}

  void write(const std::vector<Row>& rows) {
    const AttentionShape& s = batch_.shape;
    const DeviceRows k(gather(rows, batch_.k, s.kv_width()), s.kv_heads, s.head_dim, 16);
    const DeviceRows v(gather(rows, batch_.v, s.kv_width()), s.kv_heads, s.head_dim, 8);
    const Where where(rows, cache);
    kernels::kv_write(device_stream(), {k.view(), v.view(), where.sequence(), where.position(), where.tables(),
                                        cache.view()});
    synchronize();
  }
  /// Runs attention for `rows` and stores the results where packed attention would store them.
  void attend(const std::vector<Row>& rows, const std::vector<Prefix>& prefixes = {}) {
    const AttentionShape& s = batch_.shape;
    const int64_t R = int64_t(rows.size()), H = s.heads, D = s.head_dim;
    const DeviceRows q(gather(rows, batch_.q, s.q_width()), H, D, 8), out(R, H, D, 8);
    const Where where(rows, cache, prefixes);
    const Stream stream = device_stream();
    Arena scratch(kernels::attention_paged_scratch_bytes(stream, R, H, s.kv_heads, D, scratch_tokens), "test", Memory::kDevice);
    // Fills the scratch as an earlier step might have left it, with entries that would make one block process
    // all keys of every row.
    const std::vector<int32_t> left(size_t(scratch.capacity() / 4), -2);
    upload(stream, scratch.take(scratch.capacity()), left.data(), scratch.capacity() / 4 * 4);
    scratch.release(0);
    kernels::AttentionPagedArgs args{q.view(), where.sequence(), where.position(), where.tables(), cache.view(),
                                     out.view(), s.scale(), s.window, {},
                                     prefixes.empty() ? TensorView{} : where.prefix_row(),
                                     prefixes.empty() ? TensorView{} : where.prefix_tokens()};
    const DeviceArray<float> sinks(batch_.sinks);
    if (!batch_.sinks.empty()) args.sinks = sinks.view(DType::kF32, {H});
    args.list = kernels::list_attention_paged(stream, args, scratch);
    kernels::attention_paged(stream, args);
    scatter(rows, out.values());
  }
  std::vector<float> gather(const std::vector<Row>& rows, const std::vector<float>& x, int64_t width) const {
    std::vector<float> out;
    for (const Row& row : rows) {
      if (row.sequence < 0) out.insert(out.end(), size_t(width), 1.0f);
      else out.insert(out.end(), x.begin() + (batch_.starts[size_t(row.sequence)] + row.position) * width,
                      x.begin() + (batch_.starts[size_t(row.sequence)] + row.position + 1) * width);
    }
    return out;
  }
  /// The results of attend(); NaN for rows that it did not get.
  const std::vector<float>& results() const { return out_; }
  void forget() { out_ = poison(int64_t(out_.size())); }
  void expect_rows_equal(const std::vector<float>& packed) const {
    int64_t different = 0;
    const int64_t width = batch_.shape.q_width();
    for (int64_t t = 0; t < batch_.shape.tokens(); ++t) {
      different += !same_bits(out_.data() + t * width, packed.data() + t * width, width);
    }
    EXPECT_EQ(different, 0);
  }
  bool row_equals(const Row& row, const std::vector<float>& packed) const {
    const int64_t width = batch_.shape.q_width(), t = batch_.starts[size_t(row.sequence)] + row.position;
    return same_bits(out_.data() + t * width, packed.data() + t * width, width);
  }

 private:
  void scatter(const std::vector<Row>& rows, const std::vector<float>& from) {
    const int64_t width = batch_.shape.q_width();
    for (size_t r = 0; r < rows.size(); ++r) {
      const float* row = from.data() + int64_t(r) * width;
      if (rows[r].sequence < 0) {
        EXPECT_TRUE(std::all_of(row, row + width, [](float x) { return std::isnan(x); }));
        continue;
      }
      std::copy(row, row + width, out_.begin() + (batch_.starts[size_t(rows[r].sequence)] + rows[r].position) * width);
    }
  }

  const PackedBatch& batch_;

 public:
  PagedCache cache;
  int64_t scratch_tokens;

 private:
  std::vector<float> out_;
};

}  // namespace hone::test

#endif
