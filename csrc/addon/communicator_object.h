// NativeCommunicator(options): the JavaScript class of a communicator.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/communicator_thread.h"

namespace hone::addon {

/// Methods queue collectives in order and return promises of new arrays; arguments are copied when a method
/// is called.
class CommunicatorObject : public Napi::ObjectWrap<CommunicatorObject> {
 public:
  static Napi::Function define(Napi::Env env);
  /// The communicator of a JavaScript object of this class; throws kConfig, naming `where`, for any other
  /// value.
  static CommunicatorObject& from(const Napi::Value& value, const char* where);

  explicit CommunicatorObject(const Napi::CallbackInfo& info);
  ~CommunicatorObject() override;
  const std::shared_ptr<CommunicatorThread>& thread() const { return thread_; }

 private:
  Napi::Value rank(const Napi::CallbackInfo& info);
  Napi::Value size(const Napi::CallbackInfo& info);
  Napi::Value prepare(const Napi::CallbackInfo& info);
  Napi::Value connect(const Napi::CallbackInfo& info);
  Napi::Value barrier(const Napi::CallbackInfo& info);
  Napi::Value broadcast(const Napi::CallbackInfo& info);
  Napi::Value all_reduce(const Napi::CallbackInfo& info);
  Napi::Value reduce_scatter(const Napi::CallbackInfo& info);
  Napi::Value all_gather(const Napi::CallbackInfo& info);
  Napi::Value all_to_all(const Napi::CallbackInfo& info);
  void abort(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  std::shared_ptr<CommunicatorThread> thread_;  // outlives this object while a job runs
};

}  // namespace hone::addon
