#include "addon/errors.h"

#include <new>
#include <string>

#include "core/error.h"

namespace hone::addon {
namespace {

Napi::Error make(Napi::Env env, Code code, const char* message) {
  Napi::Error error = Napi::Error::New(env, message);
  error.Set("code", std::string("HONE_ERR_") + code_name(code));
  return error;
}

}  // namespace

Napi::Error to_js_error(Napi::Env env, std::exception_ptr failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Error& e) {
    return make(env, e.code(), e.what());
  } catch (const std::bad_alloc&) {
    return make(env, Code::kOutOfMemory, "the native core could not allocate memory");
  } catch (const std::exception& e) {
    return make(env, Code::kInternal, e.what());
  } catch (...) {
    return make(env, Code::kInternal, "the native core threw something that is not an exception");
  }
}

}  // namespace hone::addon
