// OLMo-2: norms after attention and MLP, none before them; q and k are normed over all heads at once.
#include "model/archs/archs.h"

namespace hone::model::archs {

void parse_olmo2(ConfigFields& fields, ModelConfig& config) {
  config.norm_eps = 1e-5f;
  config.norms = ModelConfig::Norms::kAfter;
  config.qk_norm = config.qk_norm_whole = true;
  parse_decoder(fields, config);
}

void write_olmo2(const ModelConfig& config, Json& json) {
  write_decoder(config, json);
  json.set("attention_bias", Json::boolean(false));
}

}  // namespace hone::model::archs
