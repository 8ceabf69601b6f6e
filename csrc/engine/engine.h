// The generation engine: continuous batching over a paged key/value cache, new weights between steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/thread_pool.h"
#include "engine/config.h"
#include "engine/request.h"
#include "model/weight_snapshot.h"

namespace hone::engine {

/// Results of one step, structure of arrays; row i is one new token of one attempt.
struct StepOutput {
  std::vector<uint64_t> request;
  std::vector<int32_t> attempt;          // 0 .. count-1 within the request
  std::vector<int32_t> token;
  std::vector<float> logprob, entropy;
  std::vector<uint32_t> version;         // of the weights that sampled it
  std::vector<uint32_t> oldest_kv;       // oldest version among the keys it attended to
  std::vector<Finish> finish;            // kRunning, or why this was the attempt's last token
  /// Where they are recorded, the rows that a token was drawn after and that none of its attempt's tokens before brought, in
  /// their bytes of model/routes.h: those of the prompt with the first, one with each of the others.
  std::vector<int32_t> route_rows;       // how many
  std::vector<uint8_t> routes;
  /// Attempts that ended without a new token (aborts): request, attempt, finish.
  std::vector<uint64_t> ended_request;
  std::vector<int32_t> ended_attempt;
  std::vector<Finish> ended_finish;
  void clear();
};

/// Counters since creation; seconds are wall time of the engine thread.
struct EngineStats {
  int64_t steps = 0, prefill_tokens = 0, decode_tokens = 0;
  int64_t finished = 0;        // attempts that ended by themselves (not aborted)
  int64_t preemptions = 0;     // sequences (or half prefilled prompts) that lost their pages
  int64_t weight_swaps = 0;    // new versions taken
  int64_t waiting = 0, running = 0;          // attempts now
  int64_t pages_used = 0, pages_total = 0;
  double busy_seconds = 0;                   // in steps that computed
  double prefill_seconds = 0, decode_seconds = 0;  // busy_seconds shared out by rows
  double page_swap_seconds = 0;              // copying cache pages to and from host memory, part of busy_seconds
  double weight_swap_seconds = 0;            // taking new weights, between steps; on a GPU includes their copy
  uint32_t version = 0;
};

/// Not thread-safe: one thread makes all calls. (The addon gives it a thread and a mailbox.)
class Engine {
 public:
  /// Throws kConfig naming the field; kOutOfMemory if the cache cannot be had; kCuda without a GPU to use,
  /// kUnsupported for a model that it has no kernels for.
  Engine(const model::ModelConfig& model, const EngineConfig& config, ThreadPool* pool);
  ~Engine();

  /// Takes effect at the next step boundary; a half-updated engine never samples. Running sequences keep
  /// their keys and values; a prompt that is half prefilled is finished first, so that each prompt's keys are
  /// of one version. The newest of several pending versions wins; with replay plans waiting, versions queue
  /// and are taken in order. Throws kConfig if the architecture or the storage is not the engine's.
  void set_weights(std::shared_ptr<const model::WeightSnapshot> weights);
  /// Throws kConfig: empty prompt, too long, id out of range or in use, count < 1, pages that can never
  /// suffice, a plan that does not ascend; kState: a plan that starts before the current version.
  void submit(Request request);
  /// Aborts all attempts, or one (attempt >= 0); the next step reports them as ended. Ignores unknown ids: they may
  /// just have finished.
  void abort(uint64_t request, int32_t attempt = -1);

  /// One step: admits, runs prefill chunks, samples one token for every decoding row. Returns false if there was
  /// nothing to do or to report (no sequence, no weights, or all waiting for a version). Overwrites output. Throws
  /// kNonFinite if the weights give NaN (then drops all requests), kState if a plan needs a skipped version.
  bool step(StepOutput& output);
  EngineStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hone::engine
