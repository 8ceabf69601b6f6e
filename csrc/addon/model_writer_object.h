// NativeModelWriter(options): JavaScript class with run(onProgress) and cancel().
#pragma once

#include <napi.h>

#include <memory>

namespace hone::addon {

/// Writes a model folder (model/model_writer.h) on its own thread. run() may be called once; its promise
/// resolves with the report once the folder exists, or rejects and leaves nothing behind. onProgress(done,
/// total) is called on the JavaScript thread. cancel(), and the end of the environment, make the promise
/// reject with ABORTED at the next piece of a tensor. The object stays alive while it writes.
class ModelWriterObject : public Napi::ObjectWrap<ModelWriterObject> {
 public:
  static Napi::Function define(Napi::Env env);
  explicit ModelWriterObject(const Napi::CallbackInfo& info);

 private:
  struct State;
  Napi::Value run(const Napi::CallbackInfo& info);
  Napi::Value cancel(const Napi::CallbackInfo& info);

  std::shared_ptr<State> state_;
};

}  // namespace hone::addon
