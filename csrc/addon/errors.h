// Converts native exceptions to JavaScript errors: `code` is "HONE_ERR_<CODE>".
#pragma once

#include <napi.h>

#include <exception>

namespace hone::addon {

/// A hone::Error keeps its code; bad_alloc becomes OUT_OF_MEMORY; any other exception INTERNAL.
Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure);

/// Runs f and rethrows its exceptions as JavaScript errors. A Napi::Error is rethrown unchanged.
template <class F>
auto translated(Napi::Env env, F&& f) {
  try {
    return f();
  } catch (const Napi::Error&) {
    throw;
  } catch (...) {
    throw to_js_error(env, std::current_exception());
  }
}

}  // namespace hone::addon
