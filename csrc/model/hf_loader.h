// Loads Hugging Face model folders: config.json and weights in one file or several shards.
#pragma once

#include <cstdint>
#include <string>

#include "model/parameters.h"

namespace hone::model {

/// Reads the config.json of a folder. Throws kIo, or the errors of parse_hf_config.
ModelConfig load_hf_config(const std::string& directory);

struct LoadReport {
  int64_t loaded = 0;   // tensors copied into the parameters
  int64_t skipped = 0;  // scales of other tensors, vision towers, projectors, layers that predict further tokens, stored rotary frequencies, a second copy of a tied head
  int64_t files = 0;
};

/// Fills every tensor from model.safetensors, or from the shards of model.safetensors.index.json. Understands
/// the name prefixes of vision-language wrappers, and weights in MXFP4 and fp8 (stored_weights.h). Throws
/// kIo; kFormat naming file and tensor if one is missing, unknown, stored twice or of another shape, or if a
/// tied head differs from the embedding. After a throw the parameters may be partly overwritten.
LoadReport load_hf_weights(const std::string& directory, Parameters& parameters);

}  // namespace hone::model
