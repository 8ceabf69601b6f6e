// Attention of generation, which reads keys and values from KV pages.
#pragma once

#include "engine/page_pool.h"
#include "kernels/attention.h"
#include "model/network.h"

namespace hone::engine {

/// Consecutive rows that share leading pages: prefix_row and prefix_tokens of kernels/attention.h.
struct SharedRows {
  TensorView prefix_row{}, prefix_tokens{};
};

/// Writes the keys and values of a step's rows to their pages; then every row attends to the pages of its
/// sequence. table_rows, positions [R] and block_tables [B, M] i32 are those of kernels/attention.h.
class PagedAttention final : public model::AttentionSource {
 public:
  PagedAttention(const PagePool& pool, const model::ModelConfig& model, TensorView table_rows, TensorView positions,
                 TensorView block_tables, const SharedRows& shared = {})
      : pool_(pool),
        model_(model),
        scale_(model::attention_scale(model)),
        table_rows_(table_rows),
        positions_(positions),
        block_tables_(block_tables),
        shared_(shared) {}

  /// On a GPU, must be called before the first layer: lists the pages that rows read, for layers without and
  /// with a sliding window. Takes the list's memory (attention_paged_scratch_bytes), which is in use until
  /// the last layer is done.
  void list_work(const Stream& stream, Arena& memory) {
    const TensorView queries(nullptr, DType::kBF16, {positions_.dim(0), model_.heads, model_.head_dim});
    for (int64_t l = 0; l < model_.layers; ++l) {
      kernels::PagedList& of = lists_[model_.window(l) > 0];
      if (!of.memory) of = kernels::list_attention_paged(stream, arguments(l, queries, {}), memory);
    }
  }

  /// For a hybrid model, must be called before the first layer: the rows of each sequence, and where the recurrent states of all
  /// layers begin. The arrays must outlive this object.
  void continue_states(const kernels::DeltaRuns& runs) { runs_ = runs; }

  kernels::KvPlace place(int64_t layer) const override {
    return {table_rows_, positions_, block_tables_, pool_.layer(model_.index_in_kind(layer))};
  }
  kernels::DeltaRuns runs(int64_t layer) override {
    return {runs_.cu_rows, runs_.states, model_.index_in_kind(layer) * model_.delta.state_floats()};
  }
  void attend(const Stream& stream, int64_t layer, const TensorView& q, const TensorView&, const TensorView&,
              const TensorView& sinks, const TensorView& out, const TensorView&) override {
    kernels::AttentionPagedArgs args = arguments(layer, q, out);
    args.sinks = sinks;
    kernels::attention_paged(stream, args);
  }

 private:
  kernels::AttentionPagedArgs arguments(int64_t layer, const TensorView& q, const TensorView& out) const {
    return {q, table_rows_, positions_, block_tables_, pool_.layer(model_.index_in_kind(layer)), out, scale_, model_.window(layer),
            lists_[model_.window(layer) > 0], shared_.prefix_row, shared_.prefix_tokens, model_.attention_softcap, {}};
  }

  const PagePool& pool_;
  const model::ModelConfig& model_;
  float scale_;
  TensorView table_rows_, positions_, block_tables_;
  SharedRows shared_;
  kernels::DeltaRuns runs_;
  kernels::PagedList lists_[2];  // for layers without a window, and with one
};

}  // namespace hone::engine
