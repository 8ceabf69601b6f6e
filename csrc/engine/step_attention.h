// Where generation gets its keys and values from.
#pragma once

#include "engine/page_pool.h"
#include "kernels/attention.h"
#include "model/network.h"

namespace hone::engine {

/// Keys and values of a step's rows go to their pages, then every row attends to its sequence's pages.
/// table_rows, positions [R] and block_tables [B, M] i32 as kernels/attention.h has them.
class PagedAttention final : public model::AttentionSource {
 public:
  PagedAttention(const PagePool& pool, const model::ModelConfig& model, TensorView table_rows, TensorView positions,
                 TensorView block_tables, Arena* scratch = nullptr)
      : pool_(pool),
        scale_(model::attention_scale(model)),
        window_(model.sliding_window),
        table_rows_(table_rows),
        positions_(positions),
        block_tables_(block_tables),
        scratch_(scratch) {}

  void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView& k, const TensorView& v,
              const TensorView& out, const TensorView&) override {
    const kernels::KvPages pages = pool_.layer(layer);
    kernels::kv_write(stream, {k, v, table_rows_, positions_, block_tables_, pages});
    kernels::attention_paged(
        stream, {q, table_rows_, positions_, block_tables_, pages, out, scale_, window_, scratch_});
  }

 private:
  const PagePool& pool_;
  float scale_;
  int32_t window_;
  TensorView table_rows_, positions_, block_tables_;
  Arena* scratch_;
};

}  // namespace hone::engine
