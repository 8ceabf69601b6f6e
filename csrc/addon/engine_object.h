// NativeEngine(modelConfigJson, options, onMessage, onError): the JavaScript class of an engine thread.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/engine_thread.h"

namespace hone::addon {

/// Methods: submit(request), abort(id, attempt), stats(), close(): Promise. While attempts are in flight the
/// object stays alive and keeps the process alive.
class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  /// The engine of a JavaScript object of this class, from any copy of the addon; throws kConfig for any
  /// other value.
  static EngineObject& from(const Napi::Value& value);
  /// The thread of an engine that shall receive weights of `model`; throws kConfig, naming `what`, if the
  /// engine has another model.
  static std::shared_ptr<EngineThread> thread_for(const model::ModelConfig& model, const Napi::Value& value, const char* what);

  explicit EngineObject(const Napi::CallbackInfo& info);
  ~EngineObject() override;
  bool on_gpu() const { return config_.device == Stream::Backend::kCuda; }

 private:
  void submit(const Napi::CallbackInfo& info);
  void abort(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  /// Lets the engine thread's handlers find this object while it exists; used on the JavaScript thread only.
  struct Link {
    EngineObject* object = nullptr;
    int64_t in_flight = 0;  // number of attempts; while it is positive the object holds a reference to itself
    bool failed = false;    // on_error was called: no further calls will follow
  };
  static EngineThread::Handlers handlers(const std::shared_ptr<Link>& link);
  static void call(const Napi::Object& self, const char* handler, const Napi::Value& argument);
  void settle(int64_t attempts);

  model::ModelConfig model_;
  engine::EngineConfig config_;
  std::shared_ptr<EngineThread> thread_;
  std::shared_ptr<Link> link_ = std::make_shared<Link>();
};

}  // namespace hone::addon
