// What an engine takes, before it is made.
#pragma once

#include <cstdint>

#include "engine/config.h"
#include "model/config.h"

namespace hone::engine {

/// Bytes where the engine computes, beside its weights (model::snapshot_bytes).
struct EngineBytes {
  int64_t key_values = 0;  // of all pages
  int64_t page = 0;        // of one
  int64_t scratch = 0;     // of a step; on a GPU with the step's rows
};
/// Needs no device. Trusts config (check_engine_config). threads: of the pool that a CPU's engine is given.
EngineBytes engine_bytes(const model::ModelConfig& model, const EngineConfig& config, int threads);

}  // namespace hone::engine
