// Computes the memory that a model, an engine and a trainer need, for a memory plan.
#pragma once

#include <napi.h>

namespace hone::addon {

/// memorySizes(config.json as text, engine options, trainer options, sequences of a micro-batch, threads, ranks, how a
/// frozen base is stored on the CPU, "f32" or "bf16"): bytes by purpose, with the fields of model::SnapshotBytes, engine::EngineBytes and trainer::TrainerBytes. Allocates nothing
/// and needs no device, whichever the options name.
Napi::Value memory_sizes(const Napi::CallbackInfo& call);

}  // namespace hone::addon
