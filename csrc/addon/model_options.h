// Converts JavaScript options to the core's configuration records, and back.
#pragma once

#include <napi.h>

#include "engine/engine.h"
#include "trainer/trainer.h"

namespace hone::addon {

/// Parses the text of a Hugging Face config.json.
model::ModelConfig read_model_config(const Napi::Value& value);
/// describeModel(config.json as text, its name in messages, whether unknown fields are errors): returns the
/// model's config as the core reads it.
Napi::Value describe_model(const Napi::CallbackInfo& call);
class Fields;
/// Read the options device (default "cpu"), weightStorage, and arithmetic (default f32).
Stream::Backend read_device(const Fields& options);
DType read_storage(const Fields& options);
kernels::Arithmetic read_arithmetic(const Fields& options);
engine::EngineConfig read_engine_config(const Napi::Value& value);
engine::Request read_request(const Napi::Value& value);
trainer::TrainerConfig read_trainer_config(const Napi::Value& value);
trainer::OptimizerConfig read_optimizer_config(const Napi::Value& value);
trainer::StepOptions read_step_options(const Napi::Value& value);

Napi::Object to_js(Napi::Env env, const engine::StepOutput& step);
Napi::Object to_js(Napi::Env env, const engine::EngineStats& stats);
Napi::Object to_js(Napi::Env env, const trainer::StepReport& report);

}  // namespace hone::addon
