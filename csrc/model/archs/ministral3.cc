// Ministral-3 and Devstral-2: Mistral with yarn, and queries scaled by the logarithm of their position.
#include <algorithm>

#include "model/archs/archs.h"

namespace hone::model::archs {

/// Queries are multiplied by 1 + beta ln(1 + floor(position / original positions)), which is 1 within the
/// original positions, where the context ends here. Source: transformers, modeling_ministral3.
void parse_ministral3(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1e-5f;
  config.kv_heads = 8;
  config.head_dim = 128;
  config.max_positions = 262144;
  parse_mistral(fields, config);
  if (config.rope.query_beta != 0.0) config.max_positions = std::min(config.max_positions, config.rope.original_max_positions);
}

}  // namespace hone::model::archs
