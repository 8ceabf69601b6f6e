// The N-API module: info(), describeModel(), memorySizes(), NativeEngine, NativeTrainer, NativeCommunicator,
// NativeWeightReceiver, NativeModelWriter, NativeTokenizer.
#include <napi.h>

#include "addon/communicator_object.h"
#include "addon/engine_object.h"
#include "addon/errors.h"
#include "addon/memory_sizes.h"
#include "addon/model_options.h"
#include "addon/model_writer_object.h"
#include "addon/tokenizer_object.h"
#include "addon/trainer_object.h"
#include "addon/weight_receiver_object.h"
#include "core/device_query.h"
#include "core/thread_pool.h"
#include "dist/gloo_library.h"
#include "dist/nccl_library.h"
#include "engine/isa_info.h"

namespace hone::addon {
namespace {

Napi::Value or_null(Napi::Env env, const std::string& text) {
  if (text.empty()) return env.Null();
  return Napi::String::New(env, text);
}

Napi::Object cuda_info(Napi::Env env) {
  const CudaInfo cuda = query_cuda();
  Napi::Array devices = Napi::Array::New(env, cuda.devices.size());
  for (size_t i = 0; i < cuda.devices.size(); ++i) devices.Set(uint32_t(i), cuda.devices[i]);
  Napi::Object out = Napi::Object::New(env);
  out.Set("compiled", or_null(env, cuda.compiled));
  out.Set("driver", or_null(env, cuda.driver));
  out.Set("devices", devices);
  out.Set("memoryBytes", cuda.devices.empty() ? env.Null() : Napi::Number::New(env, double(cuda.memory_bytes)));
  out.Set("reason", or_null(env, cuda.reason));
  return out;
}

Napi::Object nccl_info(Napi::Env env) {
  const dist::NcclInfo nccl = dist::query_nccl();
  Napi::Array capabilities = Napi::Array::New(env, nccl.capabilities.size());
  for (size_t i = 0; i < nccl.capabilities.size(); ++i) {
    const dist::NcclCapability& row = nccl.capabilities[i];
    capabilities.Set(uint32_t(i), row.name + " (" + row.since + ")");
  }
  Napi::Object out = Napi::Object::New(env);
  out.Set("version", or_null(env, nccl.version));
  out.Set("reason", or_null(env, nccl.reason));
  out.Set("capabilities", capabilities);
  return out;
}

Napi::Object gloo_info(Napi::Env env) {
  const dist::GlooInfo gloo = dist::query_gloo();
  Napi::Object out = Napi::Object::New(env);
  out.Set("version", or_null(env, gloo.version));
  out.Set("reason", or_null(env, gloo.reason));
  return out;
}

Napi::Value info(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  return translated(env, [&]() -> Napi::Value {
    Napi::Object out = Napi::Object::New(env);
    out.Set("isa", engine::isa_in_use());
    out.Set("threads", default_threads());
    out.Set("cuda", cuda_info(env));
    out.Set("nccl", nccl_info(env));
    out.Set("gloo", gloo_info(env));
    return out;
  });
}

class Addon : public Napi::Addon<Addon> {
 public:
  Addon(Napi::Env env, Napi::Object exports) {
    exports.Set("interfaceStamp", Napi::String::New(env, HONE_INTERFACE));
    exports.Set("info", Napi::Function::New(env, info, "info"));
    exports.Set("describeModel", Napi::Function::New(env, describe_model, "describeModel"));
    exports.Set("memorySizes", Napi::Function::New(env, memory_sizes, "memorySizes"));
    exports.Set("NativeEngine", EngineObject::define(env));
    exports.Set("NativeTrainer", TrainerObject::define(env));
    exports.Set("NativeCommunicator", CommunicatorObject::define(env));
    exports.Set("NativeWeightReceiver", WeightReceiverObject::define(env));
    exports.Set("NativeModelWriter", ModelWriterObject::define(env));
    exports.Set("NativeTokenizer", TokenizerObject::define(env));
    exports.Set("NativeDecodeStream", DecodeStreamObject::define(env));
  }
};

}  // namespace
}  // namespace hone::addon

using hone::addon::Addon;
NODE_API_ADDON(Addon)
