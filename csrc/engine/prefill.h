// Prefill: decides which waiting prompts are started, and how many rows of each prompt a step computes.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config.h"
#include "engine/page_pool.h"
#include "engine/piece.h"
#include "engine/preemption.h"
#include "engine/queues.h"
#include "engine/residency.h"

namespace hone::engine {

/// Starts a waiting prompt when a slot is free for one of its attempts and enough pages are free. Gives the
/// rows of a step that decoding leaves to the prompts in progress, oldest first. The constructor's arguments
/// must outlive it.
class Prefill {
 public:
  Prefill(const EngineConfig& config, const PagePool& pool, Residency& residency, Preemption& preemption,
          Queues& queues)
      : config_(config), pool_(pool), residency_(residency), preemption_(preemption), queues_(queues) {}

  /// Appends the prompt chunks of the next step to `pieces`. Starts no new prompt if `admit` is false, or
  /// while a parked sequence could continue under `version`.
  void add_chunks(std::vector<Piece>& pieces, uint32_t version, bool admit);
  /// Must be called after the step, when its chunks are cached; the attempts of a finished prompt are then
  /// parked, ready to decode.
  void advance(const std::vector<Piece>& pieces, uint32_t version);

 private:
  bool admit_one(uint32_t version);
  Group* next_waiting(uint32_t version) const;
  int32_t free_slots() const;

  const EngineConfig& config_;
  const PagePool& pool_;
  Residency& residency_;
  Preemption& preemption_;
  Queues& queues_;
};

}  // namespace hone::engine
