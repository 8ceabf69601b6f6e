// The arithmetic of one step: rows through the network, last rows through the sampling head.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <vector>

#include "core/arena.h"
#include "core/stream.h"
#include "engine/page_pool.h"
#include "engine/scheduler.h"
#include "engine/split_governor.h"
#include "engine/step_rows.h"
#include "model/weight_snapshot.h"

namespace hone::engine {

/// Runs pieces and draws their tokens on the CPU. While the weights fit the cache, the rows are cut in chunks and each
/// thread takes whole layers for a chunk, one join per step; beyond that (and for long prompt chunks) threads
/// split inside each op. Bits are the same either way: every op works row by row.
/// Where splitting does not pay right now (SplitGovernor), the calling thread works alone.
class StepRunner {
 public:
  StepRunner(const model::ModelConfig& model, const EngineConfig& config, PagePool& pool, ThreadPool* threads);

  /// Samples in the order of the pieces, members of a prompt by attempt; valid until the next call.
  const std::vector<Sample>& run(const model::WeightSnapshot& weights, const std::vector<Piece>& pieces,
                                 const TensorView& block_tables);

 private:
  /// Whole pieces, as a range of the step's rows and samples.
  struct Chunk {
    int32_t first_row = 0, rows = 0, first_sample = 0, samples = 0;
  };
  struct ThreadScratch {
    explicit ThreadScratch(int64_t bytes) : arena(bytes, "engine step chunk") {}
    Arena arena;
    std::atomic<bool> taken{false};
  };
  ThreadScratch& claim_scratch();
  void cut_chunks(const std::vector<Piece>& pieces, int64_t weight_bytes, int32_t threads);
  void compute(const Stream& stream);
  void run_chunk(const Stream& stream, const Chunk& chunk, Arena& scratch);
  int64_t scratch_bytes(const Stream& stream, int64_t rows) const;

  model::ModelConfig model_;
  EngineConfig config_;
  PagePool& pool_;
  ThreadPool* threads_;

  const model::WeightSnapshot* weights_ = nullptr;  // of the step in progress
  TensorView block_tables_;
  StepRows rows_;
  std::vector<int32_t> tokens_;             // [samples]
  std::vector<float> logprobs_, entropies_; // [samples]
  std::vector<Chunk> inline_chunks_, wide_chunks_;
  SplitGovernor governor_;
  Arena wide_scratch_;
  std::deque<ThreadScratch> thread_scratch_;                          // one per thread that may run a chunk
};

}  // namespace hone::engine
