#include "addon/promise_job.h"

#include <exception>
#include <utility>

#include "addon/errors.h"
#include "core/error.h"

namespace hone::addon {

Napi::Promise run_as_promise(Napi::Env env, Worker& worker, const char* closed, std::function<JobResult()> job,
                             std::function<void(Napi::Env)> settled) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto settle = [&worker, deferred, settled](JobResult result, std::exception_ptr failure) {
    worker.deliver([&worker, deferred, settled, result = std::move(result), failure](Napi::Env js) {
      worker.release(js);
      if (settled) settled(js);
      if (failure) deferred.Reject(to_js_error(js, failure).Value());
      else deferred.Resolve(result ? result(js) : js.Undefined());
    });
  };
  const auto on_thread = [settle, job = std::move(job)] {
    try {
      settle(job(), nullptr);
    } catch (...) {
      settle(nullptr, std::current_exception());
    }
  };
  const auto stopped = std::make_exception_ptr(Error(Code::kState, closed));
  worker.hold(env);
  if (!worker.post(on_thread, [settle, stopped] { settle(nullptr, stopped); })) {
    worker.release(env);
    if (settled) settled(env);
    deferred.Reject(to_js_error(env, stopped).Value());
  }
  return deferred.Promise();
}

}  // namespace hone::addon
