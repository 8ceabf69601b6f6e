// Computes one step: rows through the network, then the sampling head for rows that sample tokens.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "engine/config.h"
#include "engine/page_pool.h"
#include "engine/step_rows.h"
#include "engine/step_sharing.h"
#include "model/weight_snapshot.h"

namespace hone::engine {

/// Bytes of a step's scratch on the CPU, including the scratch of each of `threads` threads.
int64_t host_step_bytes(const model::ModelConfig& model, const EngineConfig& config, int threads);

/// Computes pieces and samples their tokens on the CPU; long prompt chunks are always split inside the ops.
/// StepSharing chooses how a step is divided over threads; this changes no bit, because every op works row by
/// row.
class StepRunner {
 public:
  StepRunner(const model::ModelConfig& model, const EngineConfig& config, PagePool& pool, ThreadPool* threads);

  /// Runs a step. Returns its samples in the order of the pieces, at the end of a prompt by attempt; valid
  /// until the next call.
  const std::vector<Sample>& run(const model::WeightSnapshot& weights, const std::vector<Piece>& pieces,
                                 const TensorView& block_tables);

 private:
  /// A range of pieces, with the rows and samples that belong to them.
  struct Chunk {
    int32_t first_row = 0, rows = 0, first_sample = 0, samples = 0, first_piece = 0, pieces = 0;
  };
  struct ThreadScratch {
    explicit ThreadScratch(int64_t bytes) : arena(bytes, "engine step chunk") {}
    Arena arena;
    std::atomic<bool> taken{false};
  };
  ThreadScratch& claim_scratch();
  void cut_chunks(const std::vector<Piece>& pieces, bool by_rows, int32_t threads);
  /// Cost of the prepared step, in StepSharing's unit.
  double cost() const;
  void compute(const Stream& stream);
  void run_chunk(const Stream& stream, const Chunk& chunk, Arena& scratch);

  model::ModelConfig model_;
  EngineConfig config_;
  PagePool& pool_;
  ThreadPool* threads_;

  const model::WeightSnapshot* weights_ = nullptr;  // weights of the step that is running
  TensorView block_tables_;
  StepRows rows_;
  std::vector<int32_t> tokens_;             // [samples]
  std::vector<float> logprobs_, entropies_; // [samples]
  std::vector<Chunk> inline_chunks_, wide_chunks_;
  StepSharing sharing_;
  Arena wide_scratch_;
  std::deque<ThreadScratch> thread_scratch_;                          // one per thread that may run a chunk
};

}  // namespace hone::engine
