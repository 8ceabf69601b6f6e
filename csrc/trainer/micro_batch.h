// PackedBatch: the arrays of one packed micro-batch, its inputs and its per-token results.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device.h"
#include "model/network.h"
#include "trainer/packer.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Throws kShape naming the argument and index unless the batch is consistent and fits the model. With
/// `options`, also checks that the batch has what the objective needs, and throws kConfig for invalid option
/// values. Throws kUnsupported for routes if the trainer's device is a GPU.
void check_batch(const TrainingBatch& batch, const model::ModelConfig& model, const StepOptions* options, Stream::Backend device = Stream::Backend::kCpu);

/// Counts of rows per expert that a step has: L E; 0 without experts.
inline int64_t expert_counts(const model::ModelConfig& model) { return model.layers * model.experts.count; }

/// Bytes of the arrays of a PackedBatch.
int64_t packed_batch_bytes(int64_t tokens, int64_t sequences, int64_t expert_counts = 0);

/// The given routes (model/routes.h) of a micro-batch's T tokens, in host memory; empty if the batch has
/// none.
struct LaidRoutes {
  void gather(const TrainingBatch& batch, const MicroBatch& which);
  /// Routes of the tokens from index `token` on, or null if there are none.
  const uint8_t* from(int64_t token) const { return rows.empty() ? nullptr : rows.data() + token * bytes; }

  int64_t bytes = 0;  // of one token
  std::vector<uint8_t> rows;
};

/// The arrays of a micro-batch with T tokens, S sequences and R loss tokens (those with mask 1). Loss row r
/// predicts the r-th loss token from the hidden state of the token before it, so that everything the
/// objective reads or writes has R entries, sequence after sequence. Of a mixture of experts, router_losses are the routers'
/// auxiliary losses and expert_rows the numbers of rows that went to each expert; a backward adds to both. Memory is kept between micro-batches;
/// gather() allocates only if one is larger than all before.
class PackedBatch {
 public:
  template <class T>
  using Array = SharedArrays::Array<T>;

  explicit PackedBatch(const Stream& stream, bool deterministic = false, int64_t expert_counts = 0)
      : stream_(stream), deterministic_(deterministic), expert_counts_(expert_counts) {}
  /// Copies the micro-batch's sequences, one after the other, into the stream's memory, and divides its rows
  /// into `parts` blocks. With `exchange`, rows() returns only this rank's rows. Does not clear the results.
  void gather(const TrainingBatch& batch, const MicroBatch& which, int64_t parts = 1, model::HeadExchange* exchange = nullptr);
  /// Copies the results to the host; waits for the stream.
  void fetch() const { memory_.download(stream_, results_, custom_); }
  /// Copies custom_slopes and custom_losses to the device.
  void upload_custom() const { memory_.upload(stream_, custom_, memory_.used()); }

  model::PackedRows rows(model::RouteCounts* counts = nullptr) const {  // counts: of given routes
    return {.ids = model::rows_of(ids.view(), own_.tokens),
            .positions = model::rows_of(positions.view(), own_.tokens),
            .cu_seqlens = cu_seqlens.view(),
            .loss_rows = own(loss_row),
            .deterministic = deterministic_,
            .exchange = exchange_,
            .routes = {routes_.from(own_.tokens.first), counts}};
  }
  int64_t loss_rows() const { return targets.size; }
  /// Row blocks of all ranks.
  const std::vector<model::RowBlock>& blocks() const { return blocks_; }
  /// The entries of an array of R entries that belong to the loss rows of rows().
  TensorView own(const auto& array) const { return model::rows_of(array.view(), own_.outputs); }
  const model::RowRange& own_rows() const { return own_.outputs; }
  /// Arguments of the policy-loss kernel. Losses without KL and entropy terms go to `policy_losses`.
  kernels::PolicyLossArgs loss_args(const TrainingBatch& batch, const StepOptions& options, bool regularizers) const;

  Array<int32_t> ids, positions, cu_seqlens;                  // [T], [T], [S+1]
  Array<int32_t> loss_row, targets, loss_starts;              // [R] rows().ids index; [R] ids; [S+1]
  Array<uint8_t> mask;                                        // [R] 1
  // [R], or null; slopes are dLoss/dlogprob of a divergence
  Array<float> behavior, reference, proximal, token_advantages, token_weights, token_penalties, slopes;
  Array<float> advantages;                                    // [S], or null
  Array<int32_t> group_sizes;                                 // [S], or null
  Array<float> logprobs, entropies, lse, a, b, ratios, weights, divergences;  // [R] results
  Array<uint8_t> clipped;                                     // [R]
  Array<double> losses, policy_losses, router_losses, expert_rows;  // [S] with, and without, KL and entropy terms; [S]; [L E]
  Array<double> custom_slopes, custom_losses;                 // [R], [S] results of a custom objective

 private:
  void reserve(int64_t tokens, int64_t sequences);
  void lay_out(const TrainingBatch& batch, int64_t tokens, int64_t sequences, int64_t loss_tokens);

  Stream stream_;
  bool deterministic_;
  SharedArrays memory_;
  int64_t expert_counts_, capacity_ = 0, results_ = 0, custom_ = 0;
  std::vector<model::RowBlock> blocks_;
  model::RowBlock own_;
  model::HeadExchange* exchange_ = nullptr;
  LaidRoutes routes_;
};

/// Indices of a micro-batch's loss rows `rows` among all loss tokens of the batch, in the batch's order.
std::vector<int32_t> numbers_of(const TrainingBatch& batch, const MicroBatch& which, const model::RowRange& rows);

/// Calls the custom objective for a micro-batch whose log-probs are computed; waits for the stream.
void ask_slopes(const TrainingBatch& batch, const StepOptions& options, const PackedBatch& packed);

/// Writes results of the micro-batch's loss tokens to out [T], in the batch's order; writes 0 for its other
/// tokens.
template <class T>
void scatter(const TrainingBatch& batch, const MicroBatch& which, const T* values, T* out) {
  for (int32_t i : which.sequences) {
    for (int32_t t = batch.cu_seqlens[i]; t < batch.cu_seqlens[i + 1]; ++t) out[t] = batch.mask[t] ? *values++ : T(0);
  }
}

}  // namespace hone::trainer
