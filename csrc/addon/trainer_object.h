// NativeTrainer(modelConfigJson, options): the JavaScript class of a trainer that has its own thread.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/trainer_thread.h"

namespace hone::addon {

/// Every method except `version` queues a job and returns a promise; jobs run in order. Arrays are copied
/// when a method is called. The process stays alive while jobs are queued.
class TrainerObject : public Napi::ObjectWrap<TrainerObject> {
 public:
  static Napi::Function define(Napi::Env env);

  explicit TrainerObject(const Napi::CallbackInfo& info);
  ~TrainerObject() override;

 private:
  Napi::Value version(const Napi::CallbackInfo& info);
  Napi::Value initialize(const Napi::CallbackInfo& info);
  Napi::Value load_hf(const Napi::CallbackInfo& info);
  Napi::Value step(const Napi::CallbackInfo& info);
  Napi::Value gradient_parts(const Napi::CallbackInfo& info);
  Napi::Value score(const Napi::CallbackInfo& info);
  template <Napi::Value (*Call)(const Napi::CallbackInfo&, TrainerThread&)> Napi::Value call(const Napi::CallbackInfo& info) { return Call(info, *thread_); }
  Napi::Value publish(const Napi::CallbackInfo& info);
  Napi::Value send_weights(const Napi::CallbackInfo& info);
  Napi::Value set_version(const Napi::CallbackInfo& info);
  Napi::Value reset_optimizer(const Napi::CallbackInfo& info);
  Napi::Value save(const Napi::CallbackInfo& info);
  Napi::Value stage(const Napi::CallbackInfo& info);
  Napi::Value written(const Napi::CallbackInfo& info);
  Napi::Value load(const Napi::CallbackInfo& info);
  Napi::Value load_adapters(const Napi::CallbackInfo& info);
  Napi::Value save_model(const Napi::CallbackInfo& info);
  Napi::Value gather_weights(const Napi::CallbackInfo& info);
  Napi::Value parameter(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  std::shared_ptr<TrainerThread> thread_;  // outlives this object while a job runs
};

}  // namespace hone::addon
