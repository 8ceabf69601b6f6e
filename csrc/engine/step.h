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

/// Bytes of the packed weights, and of the largest part that rows pass through at once (a layer, the head).
struct WeightBytes {
  int64_t total, largest;
};

/// Who works on a step: the calling thread alone; all threads, each taking rows of its own through all layers; all
/// threads inside every op. By rows there is one join per step, and one thread's attention, which waits for memory,
/// runs beside another's products: the fastest while every core is free. A core that is not holds up a whole share of
/// the rows, but only a small part of an op.
enum class Sharing { kAlone, kRows, kOps };

/// Whether kRows is worth trying. Threads in the same layer read its weights from memory once, so a layer has to fit
/// the last-level cache; and unless all weights do, every thread needs rows enough to be worth a pass over them.
bool threads_take_rows(const WeightBytes& weights, int64_t rows, int32_t threads);

/// Runs pieces and draws their tokens on the CPU; long prompt chunks are always split inside the ops. How a step is
/// shared follows from what the steps before took: by rows if that gains over the other two (rows_governor_), else
/// inside the ops if that gains over one thread (ops_governor_; not while all weights fit the cache, where ops are too
/// short). Bits are the same whatever is chosen: every op works row by row.
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
  bool can_share_rows(const WeightBytes& weights, const std::vector<Piece>& pieces) const;
  bool can_share_ops(const WeightBytes& weights) const;
  Sharing choose_sharing(const WeightBytes& weights, const std::vector<Piece>& pieces) const;
  void record(const WeightBytes& weights, const std::vector<Piece>& pieces, Sharing sharing, double seconds);
  void cut_chunks(const std::vector<Piece>& pieces, bool by_rows, int32_t threads);
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
  SplitGovernor rows_governor_, ops_governor_;
  Arena wide_scratch_;
  std::deque<ThreadScratch> thread_scratch_;                          // one per thread that may run a chunk
};

}  // namespace hone::engine
