// The jobs of a trainer that acts as a teacher, and the data for its student: lib/native/teacher-face.ts.
#pragma once

#include <napi.h>

#include "addon/trainer_thread.h"

namespace hone::addon {

Napi::Value teach(const Napi::CallbackInfo& info, TrainerThread& thread);
Napi::Value teacher_head(const Napi::CallbackInfo& info, TrainerThread& thread);
Napi::Value set_teacher_head(const Napi::CallbackInfo& info, TrainerThread& thread);

/// Throws kConfig unless the value is a number.
float to_temperature(const Napi::Value& value, const char* call);

}  // namespace hone::addon
