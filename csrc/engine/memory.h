// Computes how much memory an engine will need.
#pragma once

#include <cstdint>

#include "engine/config.h"
#include "model/config.h"

namespace hone::engine {

/// Bytes on the engine's device, without weights (model::snapshot_bytes).
struct EngineBytes {
  int64_t key_values = 0;  // keys and values in all pages
  int64_t page = 0;        // of one page
  // scratch of a step, its rows on a GPU, and recurrent states of sequences and prompts
  int64_t scratch = 0;
};
/// Needs no device. Does not check `config` (check_engine_config does). threads: size of a CPU engine's
/// thread pool.
EngineBytes engine_bytes(const model::ModelConfig& model, const EngineConfig& config, int threads);

}  // namespace hone::engine
