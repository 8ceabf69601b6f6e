// NativeWeightReceiver(modelConfigJson, options), the JavaScript face of weights that come from a trainer elsewhere.
#pragma once

#include <napi.h>

#include <memory>

#include "addon/worker.h"
#include "core/thread_pool.h"
#include "trainer/weight_transfer.h"

namespace hone::addon {

/// receive and commit queue in order on a thread of the receiver's own and return promises.
class WeightReceiverObject : public Napi::ObjectWrap<WeightReceiverObject> {
 public:
  static Napi::Function define(Napi::Env env);

  explicit WeightReceiverObject(const Napi::CallbackInfo& info);
  ~WeightReceiverObject() override;

 private:
  /// What outlives the JavaScript object while a job runs.
  struct Receiver {
    Receiver(const model::ModelConfig& config, DType storage);
    std::shared_ptr<ThreadPool> pool;
    trainer::WeightReceiver weights;
    std::shared_ptr<Worker> worker;
  };

  Napi::Value receive(const Napi::CallbackInfo& info);
  Napi::Value commit(const Napi::CallbackInfo& info);
  Napi::Value close(const Napi::CallbackInfo& info);

  std::shared_ptr<Receiver> receiver_;
};

}  // namespace hone::addon
