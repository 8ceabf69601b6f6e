// Runs a job on a worker's thread and returns a JavaScript promise of its result.
#pragma once

#include <napi.h>

#include <functional>

#include "addon/worker.h"

namespace hone::addon {

/// Converts a job's result to JavaScript, on the JavaScript thread; nullptr stands for undefined.
using JobResult = std::function<Napi::Value(Napi::Env)>;

/// Call on the JavaScript thread. The promise rejects with the job's exception, or with STATE and the message
/// `closed` if the worker stops first. Until it is settled, the process, the worker and the objects that the
/// job captures stay alive. `settled` is then called on the JavaScript thread, unless JavaScript is being
/// torn down.
Napi::Promise run_as_promise(Napi::Env env, Worker& worker, const char* closed, std::function<JobResult()> job,
                             std::function<void(Napi::Env)> settled = nullptr);

}  // namespace hone::addon
