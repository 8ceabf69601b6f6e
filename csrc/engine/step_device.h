// A step on a GPU: its rows and block tables are copied up, its tokens down; decode steps are recorded as
// CUDA graphs.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "core/device.h"
#include "engine/config.h"
#include "engine/page_pool.h"
#include "engine/step_rows.h"
#include "model/weight_snapshot.h"

namespace hone::engine {

/// Number of rows to which a step of `count` decoding rows is padded: 1, 2, 4, 8, then multiples of 8, at
/// most `most`. Padding changes no bit of the other rows.
int32_t decode_bucket(int32_t count, int32_t most);

/// device_step_bytes: scratch of a step in device memory. device_row_bytes: a step's arrays there, one set
/// for steps with prompt chunks and one for each bucket of decoding rows.
int64_t device_step_bytes(const Stream& stream, const model::ModelConfig& model, const EngineConfig& config);
int64_t device_row_bytes(const EngineConfig& config);

/// A step's arrays in host and device memory. Bytes [0, whole) are uploaded, then the used part of
/// `tables`; bytes from `results` on are downloaded.
struct StepArrays {
  SharedArrays memory;
  int64_t capacity = 0, whole = 0, results = 0;
  SharedArrays::Array<int32_t> ids, positions, sequences, prefix_row, prefix_tokens, sample_rows;
  SharedArrays::Array<kernels::SamplingParams> params;
  SharedArrays::Array<SampleKey> keys;
  SharedArrays::Array<int32_t> tables, tokens;
  SharedArrays::Array<float> logprobs, entropies;
  SharedArrays::Array<int32_t> piece_rows;  // [pieces + 1]
  SharedArrays::Array<float*> states;       // [pieces] recurrent states; null for padding
};

/// Owns a copy of the weights that is overwritten in place, so that addresses never change and recorded steps
/// stay valid.
class DeviceStep {
 public:
  DeviceStep(const model::ModelConfig& model, const EngineConfig& config, PagePool& pool, const Stream& stream);

  /// Copies new weights between two steps; returns the copy. Throws kConfig for weights not on the device.
  std::shared_ptr<const model::WeightSnapshot> take(const model::WeightSnapshot& weights);
  /// Runs a step with the weights of the last take(). Returns its samples in the order of the pieces, at the
  /// end of a prompt by attempt; valid until the next call.
  const std::vector<Sample>& run(const std::vector<Piece>& pieces, const TensorView& block_tables);

 private:
  /// pieces: at most one for each row.
  void lay_out(StepArrays& arrays, int64_t rows, int64_t samples, int64_t sequences, int64_t pieces);
  void fill(StepArrays& arrays, const TensorView& block_tables);
  void compute(const StepArrays& arrays);

  model::ModelConfig model_;
  EngineConfig config_;
  PagePool& pool_;
  const Stream& stream_;
  std::shared_ptr<model::WeightSnapshot> weights_;
  int64_t table_width_;
  Arena scratch_;
  StepRows rows_;
  StepArrays mixed_;                            // for steps with prompt chunks
  std::map<int32_t, StepArrays> decode_;        // by bucket, for steps without prompt chunks; laid out once
  std::map<int32_t, Graph> graphs_;
  std::vector<int32_t> slots_;              // row of `tables` for each row of the block tables; -1: none yet
};

}  // namespace hone::engine
