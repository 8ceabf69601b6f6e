// Fields of config.json about Mamba-2 that several architectures share.
#pragma once

#include "model/archs/archs.h"

namespace hone::model::archs {

/// Reads time_step_limit, the bounds of a time step; without it there are none.
kernels::StepRange parse_steps(ConfigFields& fields);
void write_steps(const kernels::StepRange& steps, Json& json);

/// Reads the sizes of Mamba-2 under Granite's names. wide: the number of columns of x, which the heads divide among
/// themselves; meaning: what the file calls it.
void parse_mamba_sizes(ConfigFields& fields, ModelConfig& config, int64_t wide, const char* meaning);
void write_mamba_sizes(const ModelConfig& config, Json& json);

}  // namespace hone::model::archs
