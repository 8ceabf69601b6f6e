// NativeWeightReceiver(modelConfigJson, options): the JavaScript class that receives weights from a trainer
// in another process.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/worker.h"
#include "core/thread_pool.h"
#include "trainer/weight_transfer.h"

namespace hone::addon {

/// Methods receive, send and commit queue jobs in order on the receiver's own thread and return promises.
class WeightReceiverObject : public Napi::ObjectWrap<WeightReceiverObject> {
 public:
  static Napi::Function define(Napi::Env env);

  explicit WeightReceiverObject(const Napi::CallbackInfo& info);
  ~WeightReceiverObject() override;

 private:
  /// What outlives the JavaScript object while a job runs.
  struct Receiver {
    Receiver(const model::ModelConfig& config, Stream::Backend device, DType storage, kernels::Arithmetic arithmetic);
    std::shared_ptr<ThreadPool> pool;
    trainer::WeightReceiver weights;
    std::shared_ptr<Worker> worker;
  };

  /// Runs one side of a transfer on the group's thread; the promise resolves with the version. sends: this
  /// process sends, as rank 0.
  using Part = uint32_t (trainer::WeightReceiver::*)(dist::Communicator& group);
  Napi::Value with_group(const Napi::CallbackInfo& info, const char* name, bool sends, Part part);

  Napi::Value receive(const Napi::CallbackInfo& info);
  Napi::Value send(const Napi::CallbackInfo& info);
  Napi::Value commit(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  std::shared_ptr<Receiver> receiver_;
};

}  // namespace hone::addon
