// What Gemma-2 and Gemma-3 share.
#pragma once

#include "model/archs/archs.h"

namespace hone::model::archs {

/// Sets the default sizes of both transformers classes, and what no file says: norms around both halves of a layer that
/// multiply by 1 + weight, GELU, embeddings times the root of the width, a tied head.
void preset_gemma(ModelConfig& config);

struct SoftCaps {
  double attention_softcap = 0.0, logit_softcap = 0.0;  // where the file has none; 0: no cap
};
/// After the presets: parse_decoder, the window, query_pre_attn_scalar and the caps.
void parse_gemma(ConfigFields& fields, ModelConfig& config, const SoftCaps& otherwise);
void write_gemma(const ModelConfig& config, Json& json);

}  // namespace hone::model::archs
