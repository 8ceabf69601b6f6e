#include "addon/engine_object.h"

#include <algorithm>
#include <utility>

#include "addon/arguments.h"
#include "addon/errors.h"
#include "addon/model_options.h"
#include "engine/request_check.h"

namespace hone::addon {
namespace {

// Names of the handlers as properties of the JavaScript object, in place of native references: an engine, its
// handlers and their owner may form a cycle, which the garbage collector can then find.
constexpr const char* kOnMessage = "#onMessage";
constexpr const char* kOnError = "#onError";

constexpr napi_type_tag kEngineTag = {0x8d1f0c5e6b2a4973ull, 0x91c7e03a5df84b26ull};

}  // namespace

Napi::Function EngineObject::define(Napi::Env env) {
  return DefineClass(env, "NativeEngine",
                     {InstanceMethod<&EngineObject::submit>("submit"), InstanceMethod<&EngineObject::abort>("abort"),
                      InstanceMethod<&EngineObject::stats>("stats"), InstanceMethod<&EngineObject::close>("close")});
}

EngineObject& EngineObject::from(const Napi::Value& value) {
  if (!value.IsObject() || !value.As<Napi::Object>().CheckTypeTag(&kEngineTag)) {
    fail(Code::kConfig, "publish: the argument is not a NativeEngine.");
  }
  return *Unwrap(value.As<Napi::Object>());
}

std::shared_ptr<EngineThread> EngineObject::thread_for(const model::ModelConfig& model, const Napi::Value& value,
                                                       const char* what) {
  const EngineObject& object = from(value);
  if (model::to_hf_config(object.model_).dump() != model::to_hf_config(model).dump()) {
    fail(Code::kConfig, "%s: the engine was made for another model config.", what);
  }
  return object.thread_;
}

EngineObject::EngineObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<EngineObject>(info) {
  translated(info.Env(), [&] {
    model_ = read_model_config(info[0]);
    config_ = read_engine_config(info[1]);
    if (!info[2].IsFunction() || !info[3].IsFunction()) fail(Code::kConfig, "engine: onMessage and onError must be functions.");
    Napi::Object self = info.This().As<Napi::Object>();
    self.DefineProperty(Napi::PropertyDescriptor::Value(kOnMessage, info[2]));
    self.DefineProperty(Napi::PropertyDescriptor::Value(kOnError, info[3]));
    auto thread = std::make_shared<EngineThread>(model_, config_);
    thread->start(info.Env(), handlers(link_));
    link_->object = this;
    thread_ = std::move(thread);
  });
  info.This().As<Napi::Object>().TypeTag(&kEngineTag);
}

EngineObject::~EngineObject() {
  link_->object = nullptr;
  if (thread_) thread_->worker().abandon();
}

EngineThread::Handlers EngineObject::handlers(const std::shared_ptr<Link>& link) {
  EngineThread::Handlers handlers;
  handlers.on_message = [link](Napi::Env env, const engine::StepOutput& step) {
    if (!link->object) return;
    const Napi::HandleScope scope(env);
    const auto finished = std::count_if(step.finish.begin(), step.finish.end(),
                                        [](engine::Finish f) { return f != engine::Finish::kRunning; });
    // a reference, because settle() lets the garbage collector collect the object
    const Napi::Object self = link->object->Value();
    link->object->settle(int64_t(finished) + int64_t(step.ended_request.size()));
    call(self, kOnMessage, to_js(env, step));
  };
  handlers.on_error = [link](Napi::Env env, std::exception_ptr failure) {
    link->failed = true;
    if (!link->object) return;
    const Napi::HandleScope scope(env);
    const Napi::Object self = link->object->Value();
    link->object->settle(link->in_flight);
    call(self, kOnError, to_js_error(env, failure).Value());
  };
  handlers.on_end = [link] {
    if (link->object) link->object->settle(link->in_flight);
  };
  return handlers;
}

void EngineObject::call(const Napi::Object& self, const char* handler, const Napi::Value& argument) {
  if (!self.IsEmpty()) self.Get(handler).As<Napi::Function>().Call({argument});
}

void EngineObject::settle(int64_t attempts) {
  if (attempts == 0 || link_->in_flight == 0) return;
  link_->in_flight -= attempts;
  if (link_->in_flight > 0) return;
  thread_->worker().release(Env());
  Unref();
}

void EngineObject::submit(const Napi::CallbackInfo& info) {
  translated(info.Env(), [&] {
    engine::Request request = read_request(info[0]);
    engine::check_request(request, config_, model_);
    const int32_t count = request.count;
    if (link_->failed) fail(Code::kState, "engine: submit after a failure, which onError received. Create another engine.");
    if (!thread_->submit(std::move(request))) fail(Code::kState, "engine: submit after close.");
    if (link_->in_flight == 0) {
      thread_->worker().hold(info.Env());
      Ref();
    }
    link_->in_flight += count;
  });
}

void EngineObject::abort(const Napi::CallbackInfo& info) {
  translated(info.Env(), [&] {
    const int32_t attempt = info[1].IsUndefined() ? -1 : info[1].As<Napi::Number>().Int32Value();
    thread_->abort(to_id(info[0], "abort: id"), attempt);
  });
}

Napi::Value EngineObject::stats(const Napi::CallbackInfo& info) { return to_js(info.Env(), thread_->stats()); }

Napi::Value EngineObject::close(const Napi::CallbackInfo& info) {
  return thread_->worker().close(info.Env());
}

}  // namespace hone::addon
