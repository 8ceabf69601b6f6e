#include "engine/memory.h"

#include "engine/page_pool.h"
#include "engine/recurrent_states.h"
#include "engine/step.h"
#include "engine/step_device.h"

namespace hone::engine {

EngineBytes engine_bytes(const model::ModelConfig& model, const EngineConfig& config, int threads) {
  const bool cuda = config.device == Stream::Backend::kCuda;
  const int64_t page = page_bytes(model, config.page_tokens, cuda ? DType::kBF16 : config.weight_storage);
  const int64_t scratch = cuda ? device_step_bytes({.backend = config.device}, model, config) + device_row_bytes(config)
                               : host_step_bytes(model, config, threads);
  const int64_t states = recurrent_bytes(model.state_floats(), 2 * int64_t(config.max_running));
  return {.key_values = page * config.pages, .page = page, .scratch = scratch + states};
}

}  // namespace hone::engine
