// A job on a worker's thread, as JavaScript sees it: a promise.
#pragma once

#include <napi.h>

#include <functional>

#include "addon/worker.h"

namespace hone::addon {

/// Converts a job's result to JavaScript, on the JavaScript thread; nullptr: undefined.
using JobResult = std::function<Napi::Value(Napi::Env)>;

/// JavaScript thread. The promise rejects with the job's exception, or with STATE and the message `closed` if the
/// worker stops first; the process and the objects captured by the job live until it is settled. `settled` is then
/// called on the JavaScript thread, unless that is being torn down. The job keeps the worker alive.
Napi::Promise run_as_promise(Napi::Env env, Worker& worker, const char* closed, std::function<JobResult()> job,
                             std::function<void(Napi::Env)> settled = nullptr);

}  // namespace hone::addon
