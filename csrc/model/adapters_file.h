// Reads adapters from PEFT folders: adapter_config.json and adapter_model.safetensors.
#pragma once

#include <string>

#include "model/adapters.h"

namespace hone::model {

inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterStem = "adapter_model";

/// Fills a block of adapter_specs from a PEFT folder whose tensors are f32, f16 or bf16. Throws kIo; the
/// errors of check_adapter_json; kFormat naming file and tensor if a tensor is missing, has another shape, or
/// is not an adapter of the config's targets. After a throw the block may be partly overwritten.
void load_adapters(const std::string& directory, const AdapterConfig& config, TensorBlock& block);

}  // namespace hone::model
