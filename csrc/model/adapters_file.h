// PEFT folders: adapter_config.json and adapter_model.safetensors.
#pragma once

#include <string>

#include "model/adapters.h"

namespace hone::model {

inline constexpr const char* kAdapterConfig = "adapter_config.json";
inline constexpr const char* kAdapterStem = "adapter_model";

/// Fills a block of adapter_specs from a PEFT folder, of f32, f16 or bf16.
/// Throws kIo; the errors of check_adapter_json; kFormat naming file and tensor for one that is missing, of another
/// shape, or not an adapter of these targets. The block is then partly overwritten.
void load_adapters(const std::string& directory, const AdapterConfig& config, TensorBlock& block);

}  // namespace hone::model
