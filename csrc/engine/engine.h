// The generation engine: continuous batching over a paged KV cache; weights may be replaced between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/thread_pool.h"
#include "engine/config.h"
#include "engine/request.h"
#include "model/weight_snapshot.h"

namespace hone::engine {

/// Results of one step as arrays; entry i is one new token of one attempt.
struct StepOutput {
  std::vector<uint64_t> request;
  std::vector<int32_t> attempt;          // 0 .. count-1 within the request
  std::vector<int32_t> token;
  std::vector<float> logprob, entropy;
  std::vector<uint32_t> version;         // of the weights that the token was sampled with
  std::vector<uint32_t> oldest_kv;       // oldest weight version among the keys that the token attended to
  std::vector<Finish> finish;            // kRunning, or why this token was the attempt's last one
  /// Routes (model/routes.h), if they are recorded: for each token those of the rows that the network
  /// computed for its attempt since the attempt's previous token. The first token has the rows of the prompt,
  /// each later token one row.
  std::vector<int32_t> route_rows;       // number of rows per token
  std::vector<uint8_t> routes;
  /// Attempts that ended without a new token (because they were aborted): request, attempt, finish.
  std::vector<uint64_t> ended_request;
  std::vector<int32_t> ended_attempt;
  std::vector<Finish> ended_finish;
  void clear();
};

/// Counters since the engine was created; seconds are wall time of the engine's thread.
struct EngineStats {
  int64_t steps = 0, prefill_tokens = 0, decode_tokens = 0;
  int64_t finished = 0;        // attempts that ended without being aborted
  int64_t preemptions = 0;     // how often a sequence or a partly prefilled prompt lost its pages
  int64_t weight_swaps = 0;    // new versions that the engine switched to
  int64_t waiting = 0, running = 0;          // current numbers of attempts
  int64_t pages_used = 0, pages_total = 0;
  double busy_seconds = 0;                   // time in steps that computed rows
  double prefill_seconds = 0, decode_seconds = 0;  // busy_seconds divided in proportion to rows
  // copying KV pages to and from host memory, included in busy_seconds
  double page_swap_seconds = 0;
  // switching to new weights, between steps; on a GPU includes copying them
  double weight_swap_seconds = 0;
  uint32_t version = 0;
};

/// Not thread-safe. (The addon gives an engine its own thread and a queue.)
class Engine {
 public:
  /// Throws kConfig naming the field; kOutOfMemory if there is too little memory for the KV cache; kCuda
  /// without a usable GPU; kUnsupported for a model without kernels.
  Engine(const model::ModelConfig& model, const EngineConfig& config, ThreadPool* pool);
  ~Engine();

  /// Sets the weights to use from the next step on; all rows of a step use one version. Running sequences
  /// keep their keys and values. A partly prefilled prompt is finished first, so that the keys of a prompt
  /// are of one version. Of several pending versions only the newest is used, unless replay plans are
  /// waiting: then versions are used in order. Throws kConfig if architecture or storage differs from the
  /// engine's.
  void set_weights(std::shared_ptr<const model::WeightSnapshot> weights);
  /// Throws kConfig for: an empty or too long prompt, an id that is out of range or in use, count < 1, a
  /// request that needs more pages than exist, a plan that does not ascend; kState for a plan that starts
  /// before the current version.
  void submit(Request request);
  /// Aborts all attempts of a request, or one of them (attempt >= 0); the next step reports them as ended.
  /// Ignores unknown ids, which may just have finished.
  void abort(uint64_t request, int32_t attempt = -1);

  /// Runs one step: admits requests, computes prefill chunks, samples one token for every decoding row.
  /// Returns false if there was nothing to compute or report (no sequence, no weights, or all sequences wait
  /// for a version). Overwrites `output`. Throws kNonFinite if the weights give NaN, after dropping all
  /// requests; kState if a plan needs a version that was skipped.
  bool step(StepOutput& output);
  EngineStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::engine
