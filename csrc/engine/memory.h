// Memory that an engine will need.
#pragma once

#include <cstdint>

#include "engine/config.h"
#include "model/config.h"

namespace hone::engine {

/// Bytes on the engine's device, besides its weights (model::snapshot_bytes).
struct EngineBytes {
  int64_t key_values = 0;  // of all pages
  int64_t page = 0;        // of one page
  int64_t scratch = 0;     // of a step, its rows on a GPU, and recurrent states of sequences and prompts
};
/// Needs no device. Trusts config (check_engine_config). threads: size of the thread pool that a CPU engine is given.
EngineBytes engine_bytes(const model::ModelConfig& model, const EngineConfig& config, int threads);

}  // namespace hone::engine
