// One packed micro-batch on its way through the network: its rows, its loss rows, its per-token results.
#pragma once

#include <cstdint>
#include <vector>

#include "core/device.h"
#include "model/network.h"
#include "trainer/packer.h"
#include "trainer/step.h"

namespace hone::trainer {

/// Throws kShape naming the argument and index unless the batch is consistent and usable for the model; with
/// `options`, also that what its objective needs is there (kConfig for option values).
void check_batch(const TrainingBatch& batch, const model::ModelConfig& model, const StepOptions* options);

/// Bytes of a PackedBatch's arrays.
int64_t packed_batch_bytes(int64_t tokens, int64_t sequences);

/// Routes of a micro-batch's T tokens, in host memory; none where the batch has none.
struct LaidRoutes {
  void gather(const TrainingBatch& batch, const MicroBatch& which);
  /// Those of a token and the ones after it, or null.
  const uint8_t* from(int64_t token) const { return rows.empty() ? nullptr : rows.data() + token * bytes; }

  int64_t bytes = 0;  // of a token
  std::vector<uint8_t> rows;
};

/// T tokens, S sequences, R loss tokens: those that the mask counts. Row r of the loss predicts token r of them from
/// the hidden state before it, so everything that the objective reads or writes has R entries, sequence after sequence.
/// Arrays use memory that is kept between batches: a warm step allocates nothing here.
class PackedBatch {
 public:
  template <class T>
  using Array = SharedArrays::Array<T>;

  explicit PackedBatch(const Stream& stream, bool deterministic = false)
      : stream_(stream), deterministic_(deterministic) {}
  /// Copies the micro-batch's sequences side by side into the stream's memory, and cuts its rows into `parts` blocks.
  /// exchange: if given, rows() are then this rank's only. Does not clear the results.
  void gather(const TrainingBatch& batch, const MicroBatch& which, int64_t parts = 1, model::HeadExchange* exchange = nullptr);
  /// Copies the results back to the host; waits for the stream.
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
  /// All row blocks, of all ranks.
  const std::vector<model::RowBlock>& blocks() const { return blocks_; }
  /// The part of an array of R entries for the loss rows of rows().
  TensorView own(const auto& array) const { return model::rows_of(array.view(), own_.outputs); }
  const model::RowRange& own_rows() const { return own_.outputs; }
  /// Coefficients go to a and b, the loss of each sequence to `losses`; without its KL and entropy terms to
  /// `policy_losses`.
  kernels::PolicyLossArgs loss_args(const TrainingBatch& batch, const StepOptions& options, bool regularizers) const;

  Array<int32_t> ids, positions, cu_seqlens;                  // [T], [T], [S+1]
  Array<int32_t> loss_row, targets, loss_starts;              // [R] of rows().ids; [R]; [S+1] index into R
  Array<uint8_t> mask;                                        // [R] 1
  Array<float> behavior, reference, proximal, token_advantages, token_weights, token_penalties, slopes;  // [R], or null; slopes are a divergence's
  Array<float> advantages;                                    // [S], or null
  Array<int32_t> group_sizes;                                 // [S], or null
  Array<float> logprobs, entropies, lse, a, b, ratios, weights, divergences;  // [R] results
  Array<uint8_t> clipped;                                     // [R]
  Array<double> losses, policy_losses;                        // [S] with and without the regularizers
  Array<double> custom_slopes, custom_losses;                 // [R], [S] results of a custom objective

 private:
  void reserve(int64_t tokens, int64_t sequences);
  void lay_out(const TrainingBatch& batch, int64_t tokens, int64_t sequences, int64_t loss_tokens);

  Stream stream_;
  bool deterministic_;
  SharedArrays memory_;
  int64_t capacity_ = 0, results_ = 0, custom_ = 0;
  std::vector<model::RowBlock> blocks_;
  model::RowBlock own_;
  model::HeadExchange* exchange_ = nullptr;
  LaidRoutes routes_;
};

/// Indices, among the batch's counted tokens, of some loss rows of a micro-batch.
std::vector<int32_t> numbers_of(const TrainingBatch& batch, const MicroBatch& which, const model::RowRange& rows);

/// Asks a custom objective about a batch whose log-probs are known; waits for the stream.
void ask_slopes(const TrainingBatch& batch, const StepOptions& options, const PackedBatch& packed);

/// Writes the loss tokens' results to out [T] in the batch's order; 0 where masked out.
template <class T>
void scatter(const TrainingBatch& batch, const MicroBatch& which, const T* values, T* out) {
  for (int32_t i : which.sequences) {
    for (int32_t t = batch.cu_seqlens[i]; t < batch.cu_seqlens[i + 1]; ++t) out[t] = batch.mask[t] ? *values++ : T(0);
  }
}

}  // namespace hone::trainer
