// NativeEngine(modelConfigJson, options, onMessage, onError), the JavaScript face of an engine thread.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/engine_thread.h"

namespace hone::addon {

/// submit(request), abort(id, attempt), stats(), close(): Promise. The object stays alive, and keeps the process
/// alive, while attempts are in flight.
class EngineObject : public Napi::ObjectWrap<EngineObject> {
 public:
  static Napi::Function define(Napi::Env env);
  /// The engine behind a JavaScript object of this class, from any copy of the addon; throws kConfig for anything else.
  static EngineObject& from(const Napi::Value& value);
  /// Its thread, to receive weights of `model`; throws kConfig, naming `what`, for an engine of another model.
  static std::shared_ptr<EngineThread> thread_for(const model::ModelConfig& model, const Napi::Value& value, const char* what);

  explicit EngineObject(const Napi::CallbackInfo& info);
  ~EngineObject() override;
  bool on_gpu() const { return config_.device == Stream::Backend::kCuda; }

 private:
  void submit(const Napi::CallbackInfo& info);
  void abort(const Napi::CallbackInfo& info);
  Napi::Value stats(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  /// Lets the handlers find this object while it lives; JavaScript thread only.
  struct Link {
    EngineObject* object = nullptr;
    int64_t in_flight = 0;  // attempts; while positive the object holds a reference to itself
    bool failed = false;    // on_error was called: no further calls follow
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
