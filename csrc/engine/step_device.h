// A step on a GPU: rows go up in one copy, tokens come down in one copy, decode steps are recorded and done again.
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

/// Rows that a step of `count` decoding rows is made up to: 1, 2, 4, 8, then multiples of 8, at most `most`. Rows
/// beyond `count` are padding, which no other row's bits depend on.
int32_t decode_bucket(int32_t count, int32_t most);

/// Of a step's scratch in device memory, and of its rows there: one with prompts, and each bucket of decoding rows.
int64_t device_step_bytes(const Stream& stream, const model::ModelConfig& model, const EngineConfig& config);
int64_t device_row_bytes(const EngineConfig& config);

/// Keeps weights of its own, rewritten in place, so that addresses never change and a recorded step stays right.
class DeviceStep {
 public:
  DeviceStep(const model::ModelConfig& model, const EngineConfig& config, PagePool& pool, const Stream& stream);

  /// Between two steps: takes the weights over; they may be dropped or rewritten when this returns. Returns those to
  /// run with. Throws kConfig if they are not on the device.
  std::shared_ptr<const model::WeightSnapshot> take(const model::WeightSnapshot& weights);
  /// As StepRunner::run, with the weights taken last.
  const std::vector<Sample>& run(const std::vector<Piece>& pieces, const TensorView& block_tables);

 private:
  /// A step's arrays on both sides: those of the first group go up, those of the second come down.
  struct Arrays {
    SharedArrays memory;
    int64_t capacity = 0, results = 0;
    SharedArrays::Array<int32_t> ids, positions, sequences, prefix_row, prefix_tokens, tables,
        sample_rows, tokens;
    SharedArrays::Array<kernels::SamplingParams> params;
    SharedArrays::Array<SampleKey> keys;
    SharedArrays::Array<float> logprobs, entropies;
  };
  void lay_out(Arrays& arrays, int64_t rows, int64_t samples, int64_t sequences);
  void fill(Arrays& arrays, const TensorView& block_tables);
  void compute(const Arrays& arrays);

  model::ModelConfig model_;
  EngineConfig config_;
  PagePool& pool_;
  const Stream& stream_;
  std::shared_ptr<model::WeightSnapshot> weights_;
  int64_t table_width_;
  Arena scratch_;
  StepRows rows_;
  Arrays mixed_;                            // of steps with prompt chunks
  std::map<int32_t, Arrays> decode_;        // by bucket; laid out once
  std::map<int32_t, Graph> graphs_;
  std::vector<int32_t> slots_;              // which row of `tables` a block-table row got, -1: none yet
};

}  // namespace hone::engine
