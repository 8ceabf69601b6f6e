// What a model, an engine and a trainer take, asked by a plan.
#pragma once

#include <napi.h>

namespace hone::addon {

/// memorySizes(config.json as text, engine options, trainer options, sequences of a micro-batch, threads): bytes by what
/// they are for, as model::SnapshotBytes, engine::EngineBytes and trainer::TrainerBytes have them. Allocates nothing and
/// needs no device, whichever the options name.
Napi::Value memory_sizes(const Napi::CallbackInfo& call);

}  // namespace hone::addon
