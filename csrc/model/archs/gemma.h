// Parsing and writing that Gemma-2 and Gemma-3 share.
#pragma once

#include "model/archs/archs.h"

namespace hone::model::archs {

/// Sets the default sizes that transformers' classes of both models have, and the properties that no file
/// states: norms before and after each half of a layer that multiply by 1 + weight, GELU, embeddings
/// multiplied by the root of the width, a tied head.
void preset_gemma(ModelConfig& config);

struct SoftCaps {
  double attention_softcap = 0.0, logit_softcap = 0.0;  // defaults for files without these fields; 0: no cap
};
/// Reads the decoder's fields (parse_decoder), the sliding window, query_pre_attn_scalar and the soft caps.
/// Call after preset_gemma.
void parse_gemma(ConfigFields& fields, ModelConfig& config, const SoftCaps& otherwise);
void write_gemma(const ModelConfig& config, Json& json);

}  // namespace hone::model::archs
