#include "addon/weight_receiver_object.h"

#include <utility>

#include "addon/arguments.h"
#include "addon/communicator_object.h"
#include "addon/engine_object.h"
#include "addon/errors.h"
#include "addon/model_options.h"
#include "addon/promise_job.h"
#include "addon/thread_pool.h"

namespace hone::addon {
namespace {

constexpr const char* kClosed = "weightReceiver: closed.";

}  // namespace

WeightReceiverObject::Receiver::Receiver(const model::ModelConfig& config, Stream::Backend device, DType storage, kernels::Arithmetic arithmetic)
    : pool(shared_thread_pool()), weights(config, device, storage, pool.get(), arithmetic) {}

Napi::Function WeightReceiverObject::define(Napi::Env env) {
  using Self = WeightReceiverObject;
  return DefineClass(env, "NativeWeightReceiver",
                     {InstanceMethod<&Self::receive>("receive"), InstanceMethod<&Self::send>("send"),
                      InstanceMethod<&Self::commit>("commit"), InstanceMethod<&Self::close>("close")});
}

WeightReceiverObject::WeightReceiverObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<WeightReceiverObject>(info) {
  translated(info.Env(), [&] {
    const model::ModelConfig config = read_model_config(info[0]);
    const Fields options(info[1], "weightReceiver");
    auto receiver = std::make_shared<Receiver>(config, read_device(options), read_storage(options), read_arithmetic(options));
    receiver->worker = Worker::open(info.Env(), "hone.weightReceiver", nullptr, [receiver] {});
    receiver_ = std::move(receiver);
  });
}

WeightReceiverObject::~WeightReceiverObject() {
  if (receiver_) receiver_->worker->abandon();
}

Napi::Value WeightReceiverObject::with_group(const Napi::CallbackInfo& info, const char* name, bool sends, Part part) {
  const auto group = translated(info.Env(), [&] {
    const auto group = CommunicatorObject::from(info[0], name).thread();
    if (sends != (group->rank() == 0)) fail(Code::kConfig, "%s: rank 0 sends; this is rank %d.", name, group->rank());
    return group;
  });
  group->abort_before_others(info.Env());
  const auto job = [receiver = receiver_, group, part]() -> JobResult {
    uint32_t version = 0;
    group->use([&](dist::Communicator& ranks) { version = (receiver->weights.*part)(ranks); }, receiver->weights.device());
    return [version](Napi::Env env) { return Napi::Number::New(env, version); };
  };
  return run_as_promise(info.Env(), *receiver_->worker, kClosed, job);
}

Napi::Value WeightReceiverObject::receive(const Napi::CallbackInfo& info) {
  return with_group(info, "receive", false, &trainer::WeightReceiver::receive);
}

Napi::Value WeightReceiverObject::send(const Napi::CallbackInfo& info) {
  return with_group(info, "send", true, &trainer::WeightReceiver::send);
}

Napi::Value WeightReceiverObject::commit(const Napi::CallbackInfo& info) {
  const auto engine = translated(info.Env(), [&] {
    const auto engine = EngineObject::thread_for(receiver_->weights.config(), info[0], "commit");
    const bool on_gpu = receiver_->weights.device() == Stream::Backend::kCuda;
    if (EngineObject::from(info[0]).on_gpu() != on_gpu) {
      fail(Code::kConfig, "commit: the engine computes on a %s, and weights are received in the memory of a %s.", on_gpu ? "CPU" : "GPU", on_gpu ? "GPU" : "CPU");
    }
    return engine;
  });
  const auto job = [receiver = receiver_, engine]() -> JobResult {
    const auto snapshot = receiver->weights.commit();
    if (!engine->set_weights(snapshot)) fail(Code::kState, "commit: the engine is closed.");
    return [version = snapshot->version](Napi::Env env) { return Napi::Number::New(env, version); };
  };
  return run_as_promise(info.Env(), *receiver_->worker, kClosed, job);
}

Napi::Value WeightReceiverObject::close(const Napi::CallbackInfo& info) { return receiver_->worker->close(info.Env()); }

}  // namespace hone::addon
