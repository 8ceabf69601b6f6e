#include "addon/slopes_function.h"

#include <algorithm>
#include <exception>

#include "addon/arguments.h"
#include "core/error.h"

namespace hone::addon {
namespace {

using trainer::SlopesRequest;

/// Passes numbers as f64, so that the function and a check of it by finite differences compute in the same
/// precision.
void set_numbers(Napi::Object& to, const char* name, const float* from, int64_t n) {
  if (!from) return;
  Napi::Float64Array array = Napi::Float64Array::New(to.Env(), size_t(n));
  std::copy(from, from + n, array.Data());
  to.Set(name, array);
}

void set_integers(Napi::Object& to, const char* name, const int32_t* from, int64_t n) {
  if (!from) return;
  Napi::Int32Array array = Napi::Int32Array::New(to.Env(), size_t(n));
  std::copy(from, from + n, array.Data());
  to.Set(name, array);
}

Napi::Object to_js(Napi::Env env, const SlopesRequest& r) {
  Napi::Object out = Napi::Object::New(env);
  set_numbers(out, "logprobs", r.logprobs, r.tokens);
  set_numbers(out, "entropies", r.entropies, r.tokens);
  set_numbers(out, "behaviorLogprobs", r.behavior, r.tokens);
  set_numbers(out, "referenceLogprobs", r.reference, r.tokens);
  set_numbers(out, "tokenAdvantages", r.token_advantages, r.tokens);
  set_numbers(out, "tokenWeights", r.token_weights, r.tokens);
  set_numbers(out, "advantages", r.advantages, r.sequences);
  set_integers(out, "sequences", r.starts, r.sequences + 1);
  set_integers(out, "groupSizes", r.group_sizes, r.sequences);
  out.Set("totalSequences", double(r.step.sequences));
  out.Set("totalGroups", double(r.step.groups));
  out.Set("totalTokens", double(r.step.counted_tokens));
  return out;
}

/// Copies a result out of JavaScript. The function may have detached the array's memory, which a
/// Napi::Float64Array would not notice.
void copy_back(const Napi::Float64Array& from, int64_t n, const char* name, double* to) {
  size_t length = 0;
  void* data = nullptr;
  napi_get_typedarray_info(from.Env(), from, nullptr, &length, &data, nullptr, nullptr);
  if (length != size_t(n)) {
    fail(Code::kShape, "slopes: %s has %zu entries after the call, expected %lld.", name, length, (long long)n);
  }
  std::copy_n(static_cast<const double*>(data), n, to);
}

void call(Napi::Env env, napi_ref function, const SlopesRequest& request) {
  const Napi::HandleScope scope(env);
  napi_value callee = nullptr;
  napi_get_reference_value(env, function, &callee);
  Napi::Object argument = to_js(env, request);
  const Napi::Float64Array out = Napi::Float64Array::New(env, size_t(request.tokens));
  const Napi::Float64Array losses = Napi::Float64Array::New(env, size_t(request.sequences));
  argument.Set("out", out);
  argument.Set("losses", losses);
  Napi::Function(env, callee).Call({argument});
  copy_back(out, request.tokens, "out", request.slopes);
  copy_back(losses, request.sequences, "losses", request.losses);
}

}  // namespace

std::shared_ptr<SlopesFunction> SlopesFunction::read(const Napi::Value& options) {
  const Fields f(options, "step");
  if (!f.has("slopes")) return nullptr;
  const Napi::Value value = f.get("slopes");
  if (!value.IsFunction()) fail(Code::kConfig, "step.slopes must be a function.");
  auto function = std::make_shared<SlopesFunction>();
  if (napi_create_reference(value.Env(), value, 1, &function->function_) != napi_ok) {
    fail(Code::kInternal, "step.slopes: Node refused a reference.");
  }
  return function;
}

void SlopesFunction::ask(Worker& worker, const SlopesRequest& request) const {
  std::exception_ptr failure;
  const bool answered = worker.ask([&](Napi::Env env) {
    try {
      call(env, function_, request);
    } catch (const Napi::Error& error) {
      // the exception holds a JavaScript reference, which may not leave this thread
      failure = std::make_exception_ptr(Error(Code::kState, "slopes: " + error.Message()));
    } catch (...) {
      failure = std::current_exception();
    }
  });
  if (!answered) fail(Code::kState, "trainer: closed.");
  if (failure) std::rethrow_exception(failure);
}

void SlopesFunction::release(Napi::Env env) {
  if (function_) napi_delete_reference(env, function_);
  function_ = nullptr;
}

}  // namespace hone::addon
