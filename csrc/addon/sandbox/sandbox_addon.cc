// The addon of the process that runs untrusted programs; it contains no code of the core.
#include <napi.h>
#include <unistd.h>

#include "sandbox/program_server.h"

namespace {

/// serve(filter: Uint8Array, starvedTimes: number): number. See hone::sandbox::serve_programs.
Napi::Value serve(const Napi::CallbackInfo& info) {
  const auto filter = info[0].As<Napi::Uint8Array>();
  const uint32_t starved_times = info[1].As<Napi::Number>().Uint32Value();
  const uint64_t bytes = hone::sandbox::serve_programs({filter.Data(), filter.ByteLength()}, starved_times);
  return Napi::Number::New(info.Env(), double(bytes));
}

/// end(status: number): never. Ends the process without Node's own clean-up, which would touch state of the server.
void end(const Napi::CallbackInfo& info) { _exit(info[0].As<Napi::Number>().Int32Value()); }

Napi::Object init(Napi::Env env, Napi::Object exports) {
  exports.Set("serve", Napi::Function::New(env, serve));
  exports.Set("end", Napi::Function::New(env, end));
  return exports;
}

}  // namespace

NODE_API_MODULE(hone_sandbox, init)
