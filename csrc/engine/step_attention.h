// Keys and values for generation.
#pragma once

#include "engine/page_pool.h"
#include "kernels/attention.h"
#include "model/network.h"

namespace hone::engine {

/// Further arguments of the GPU kernels, as in kernels/attention.h.
struct DeviceAttention {
  Arena* scratch = nullptr;
  TensorView prefix_row{}, prefix_tokens{};
};

/// Writes keys and values of a step's rows to their pages; then every row attends to its sequence's pages. table_rows,
/// positions [R] and block_tables [B, M] i32 are those of kernels/attention.h.
class PagedAttention final : public model::AttentionSource {
 public:
  PagedAttention(const PagePool& pool, const model::ModelConfig& model, TensorView table_rows, TensorView positions,
                 TensorView block_tables, const DeviceAttention& device = {})
      : pool_(pool),
        model_(model),
        scale_(model::attention_scale(model)),
        table_rows_(table_rows),
        positions_(positions),
        block_tables_(block_tables),
        device_(device) {}

  kernels::KvPlace place(int64_t layer) const override {
    return {table_rows_, positions_, block_tables_, pool_.layer(layer)};
  }
  void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView&, const TensorView&,
              const TensorView& out, const TensorView&) override {
    kernels::attention_paged(stream, {q, table_rows_, positions_, block_tables_, pool_.layer(layer), out, scale_,
                                      model_.window(layer), device_.scratch, device_.prefix_row, device_.prefix_tokens,
                                      model_.attention_softcap});
  }

 private:
  const PagePool& pool_;
  const model::ModelConfig& model_;
  float scale_;
  TensorView table_rows_, positions_, block_tables_;
  DeviceAttention device_;
};

}  // namespace hone::engine
