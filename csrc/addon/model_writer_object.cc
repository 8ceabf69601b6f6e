#include "addon/model_writer_object.h"

#include <atomic>
#include <string>
#include <utility>

#include "addon/arguments.h"
#include "addon/errors.h"
#include "addon/worker.h"
#include "core/error.h"
#include "model/model_writer.h"

namespace hone::addon {
namespace {

model::ModelWriterOptions read_options(const Napi::Value& value) {
  const Fields fields(value, "model writer");
  model::ModelWriterOptions options;
  options.source = fields.text("source");
  options.target = fields.text("target");
  if (fields.has("values")) options.values = fields.text("values");
  if (fields.has("dtype")) {
    constexpr DType kTypes[] = {DType::kF32, DType::kBF16, DType::kF16};
    options.dtype = kTypes[fields.choice("dtype", {"f32", "bf16", "f16"})];
  }
  if (fields.has("shardBytes")) options.shard_bytes = int64_t(to_id(fields.get("shardBytes"), "model writer.shardBytes"));
  if (!fields.get("extras").IsArray()) fail(Code::kConfig, "model writer.extras must be an array.");
  const Napi::Array extras = fields.get("extras").As<Napi::Array>();
  for (uint32_t i = 0; i < extras.Length(); ++i) {
    const Fields extra(extras.Get(i), "model writer.extras");
    options.extras.push_back({extra.text("name"), extra.has("text") ? extra.text("text") : "",
                              extra.has("from") ? extra.text("from") : ""});
  }
  return options;
}

Napi::Object to_js(Napi::Env env, const model::ModelWriterReport& report) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("tensors", double(report.tensors));
  out.Set("converted", double(report.converted));
  out.Set("replaced", double(report.replaced));
  out.Set("files", double(report.files));
  out.Set("bytes", double(report.bytes));
  return out;
}

}  // namespace

struct ModelWriterObject::State {
  model::ModelWriterOptions options;
  std::atomic<bool> cancelled{false};
  std::shared_ptr<Worker> worker;
  // Set while the writer runs; used on the JavaScript thread only. `self` keeps the object from being
  // garbage-collected.
  Napi::ObjectReference self;
  Napi::FunctionReference on_progress;
};

Napi::Function ModelWriterObject::define(Napi::Env env) {
  return DefineClass(env, "NativeModelWriter",
                     {InstanceMethod<&ModelWriterObject::run>("run"), InstanceMethod<&ModelWriterObject::cancel>("cancel")});
}

ModelWriterObject::ModelWriterObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<ModelWriterObject>(info) {
  translated(info.Env(), [&] {
    auto state = std::make_shared<State>();
    state->options = read_options(info[0]);
    state_ = std::move(state);
  });
}

Napi::Value ModelWriterObject::run(const Napi::CallbackInfo& info) {
  const Napi::Env env = info.Env();
  translated(env, [&] {
    if (state_->worker) fail(Code::kState, "model writer: run() was called before.");
    if (!info[0].IsFunction()) fail(Code::kConfig, "model writer: onProgress must be a function.");
    state_->worker = Worker::open(env, "hone.modelWriter", nullptr, nullptr);
  });
  const auto deferred = Napi::Promise::Deferred::New(env);
  const auto state = state_;
  Worker* const worker = state->worker.get();
  state->self = Napi::Persistent(info.This().As<Napi::Object>());
  state->on_progress = Napi::Persistent(info[0].As<Napi::Function>());
  const auto settle = [state, worker, deferred](const model::ModelWriterReport& report, std::exception_ptr failure) {
    worker->deliver([state, worker, deferred, report, failure](Napi::Env js) {
      state->self.Reset();
      state->on_progress.Reset();
      worker->release(js);
      if (failure) deferred.Reject(to_js_error(js, failure).Value());
      else deferred.Resolve(to_js(js, report));
      worker->abandon();
    });
  };
  state->options.on_progress = [raw = state.get(), worker](int64_t done, int64_t total) {
    if (raw->cancelled || worker->closing()) fail(Code::kAborted, "model writer: called off; nothing was written.");
    worker->deliver([raw, done, total](Napi::Env js) {
      if (raw->on_progress.IsEmpty()) return;
      raw->on_progress.Call({Napi::Number::New(js, double(done)), Napi::Number::New(js, double(total))});
    });
  };
  worker->hold(env);
  worker->post([state, settle] {
    try {
      settle(model::write_model_folder(state->options), nullptr);
    } catch (...) {
      settle({}, std::current_exception());
    }
  });
  return deferred.Promise();
}

Napi::Value ModelWriterObject::cancel(const Napi::CallbackInfo& info) {
  state_->cancelled = true;
  return info.Env().Undefined();
}

}  // namespace hone::addon
