// Checks of an engine's config and of requests; each rule has its own message.
#pragma once

#include "engine/config.h"
#include "engine/request.h"
#include "model/config.h"

namespace hone::engine {

/// Throws kConfig naming the field, its value and the rule.
void check_engine_config(const EngineConfig& config, const model::ModelConfig& model);
/// Throws kConfig naming the request, the field and the rule, also for a request that needs more pages than
/// exist.
void check_request(const Request& request, const EngineConfig& config, const model::ModelConfig& model);

}  // namespace hone::engine
