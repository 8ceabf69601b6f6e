#include "addon/trainer_object.h"

#include <chrono>
#include <cstring>
#include <functional>
#include <utility>

#include "addon/arguments.h"
#include "addon/engine_object.h"
#include "addon/errors.h"
#include "addon/model_options.h"
#include "addon/thread_pool.h"
#include "addon/training_batch.h"
#include "core/stopwatch.h"
#include "model/hf_loader.h"

namespace hone::addon {
namespace {

using ToJs = std::function<Napi::Value(Napi::Env)>;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

ToJs nothing() {
  return [](Napi::Env env) { return env.Undefined(); };
}

/// The engine's thread behind `value`. Throws kConfig for anything else, and for an engine of another model.
std::shared_ptr<EngineThread> engine_for(const model::ModelConfig& model, const Napi::Value& value) {
  const EngineObject& object = EngineObject::from(value);
  if (model::to_hf_config(object.model()).dump() != model::to_hf_config(model).dump()) {
    fail(Code::kConfig, "publish: the engine was made for another model config.");
  }
  return object.thread();
}

}  // namespace

struct TrainerObject::State {
  State(const model::ModelConfig& m, const trainer::TrainerConfig& c)
      : model(m), pool(shared_thread_pool()), trainer(std::make_unique<trainer::Trainer>(m, c, pool.get())) {}
  model::ModelConfig model;
  std::shared_ptr<ThreadPool> pool;
  std::unique_ptr<trainer::Trainer> trainer;  // worker's thread; gone once that is joined
  std::atomic<uint32_t> version{0};
  std::shared_ptr<Worker> worker;

  /// Worker's thread. Whoever hears of the version from the engine finds it here as well.
  void publish(EngineThread& engine) {
    version = trainer->version();
    if (!engine.set_weights(trainer->snapshot())) fail(Code::kState, "publish: the engine is closed.");
  }
};

Napi::Function TrainerObject::define(Napi::Env env) {
  return DefineClass(
      env, "NativeTrainer",
      {InstanceAccessor<&TrainerObject::version>("version"), InstanceMethod<&TrainerObject::initialize>("initialize"),
       InstanceMethod<&TrainerObject::load_hf>("loadHf"), InstanceMethod<&TrainerObject::step>("step"),
       InstanceMethod<&TrainerObject::score>("score"), InstanceMethod<&TrainerObject::publish>("publish"),
       InstanceMethod<&TrainerObject::set_version>("setVersion"),
       InstanceMethod<&TrainerObject::reset_optimizer>("resetOptimizer"), InstanceMethod<&TrainerObject::save>("save"),
       InstanceMethod<&TrainerObject::load>("load"), InstanceMethod<&TrainerObject::parameter>("parameter"),
       InstanceMethod<&TrainerObject::close>("close")});
}

TrainerObject::TrainerObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<TrainerObject>(info) {
  translated(info.Env(), [&] {
    auto state = std::make_shared<State>(read_model_config(info[0]), read_trainer_config(info[1]));
    state->worker = Worker::open(info.Env(), "hone.trainer", nullptr, [state] { state->trainer.reset(); });
    state_ = std::move(state);
  });
}

TrainerObject::~TrainerObject() {
  if (state_) state_->worker->abandon();
}

/// `run` works on the worker's thread and returns how to show its result to JavaScript.
template <class Run>
Napi::Promise TrainerObject::enqueue(Napi::Env env, Run run) {
  const auto deferred = Napi::Promise::Deferred::New(env);
  Worker* const worker = state_->worker.get();
  const auto settle = [worker, deferred](ToJs result, std::exception_ptr failure) {
    worker->deliver([worker, deferred, result = std::move(result), failure](Napi::Env js) {
      worker->release(js);
      if (failure) deferred.Reject(to_js_error(js, failure).Value());
      else deferred.Resolve(result(js));
    });
  };
  const auto job = [state = state_, settle, run = std::move(run)] {
    try {
      ToJs result = run(*state);
      state->version = state->trainer->version();
      settle(std::move(result), nullptr);
    } catch (...) {
      settle(nullptr, std::current_exception());
    }
  };
  const auto closed = std::make_exception_ptr(Error(Code::kState, "trainer: closed."));
  worker->hold(env);
  if (!worker->post(job, [settle, closed] { settle(nullptr, closed); })) {
    worker->release(env);
    deferred.Reject(to_js_error(env, closed).Value());
  }
  return deferred.Promise();
}

Napi::Value TrainerObject::version(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), state_->version.load());
}

Napi::Value TrainerObject::initialize(const Napi::CallbackInfo& info) {
  const uint64_t seed = translated(info.Env(), [&] { return to_uint64(info[0], "initialize: seed"); });
  return enqueue(info.Env(), [seed](State& s) -> ToJs {
    s.trainer->parameters().initialize(seed);
    s.trainer->parameters_changed();
    return nothing();
  });
}

Napi::Value TrainerObject::load_hf(const Napi::CallbackInfo& info) {
  const std::string directory = translated(info.Env(), [&] { return to_text(info[0], "loadHf: directory"); });
  return enqueue(info.Env(), [directory](State& s) -> ToJs {
    model::load_hf_weights(directory, s.trainer->parameters());
    s.trainer->parameters_changed();
    return nothing();
  });
}

Napi::Value TrainerObject::step(const Napi::CallbackInfo& info) {
  auto batch = std::make_shared<OwnedBatch>();
  trainer::StepOptions options;
  std::shared_ptr<EngineThread> engine;
  translated(info.Env(), [&] {
    *batch = read_batch(info[0]);
    options = read_step_options(info[1]);
    if (!info[2].IsUndefined()) engine = engine_for(state_->model, info[2]);
  });
  return enqueue(info.Env(), [batch, options, engine, called = Clock::now()](State& s) -> ToJs {
    const double start_seconds = seconds_since(called);
    auto report = std::make_shared<trainer::StepReport>(s.trainer->step(batch->view(), options));
    double publish_seconds = 0;
    if (engine && !report->skipped) {
      const Stopwatch watch(publish_seconds);
      s.publish(*engine);
    }
    return [=](Napi::Env env) {
      Napi::Object out = to_js(env, *report);
      out.Set("startSeconds", start_seconds);
      out.Set("publishSeconds", publish_seconds);
      return out;
    };
  });
}

Napi::Value TrainerObject::score(const Napi::CallbackInfo& info) {
  auto batch = std::make_shared<OwnedBatch>();
  float temperature = 1.0f;
  translated(info.Env(), [&] {
    *batch = read_batch(info[0]);
    if (!info[1].IsNumber()) fail(Code::kConfig, "score: temperature must be a number.");
    temperature = info[1].As<Napi::Number>().FloatValue();
  });
  return enqueue(info.Env(), [batch, temperature](State& s) -> ToJs {
    auto logprobs = std::make_shared<std::vector<float>>(batch->tokens.size());
    auto entropies = std::make_shared<std::vector<float>>(batch->tokens.size());
    s.trainer->score(batch->view(), temperature, logprobs->data(), entropies->data());
    return [logprobs, entropies](Napi::Env env) {
      Napi::Object out = Napi::Object::New(env);
      out.Set("logprobs", new_array<Napi::Float32Array>(env, *logprobs));
      out.Set("entropies", new_array<Napi::Float32Array>(env, *entropies));
      return out;
    };
  });
}

Napi::Value TrainerObject::publish(const Napi::CallbackInfo& info) {
  const auto engine = translated(info.Env(), [&] { return engine_for(state_->model, info[0]); });
  return enqueue(info.Env(), [engine](State& s) -> ToJs {
    s.publish(*engine);
    return [version = s.trainer->version()](Napi::Env env) { return Napi::Number::New(env, version); };
  });
}

Napi::Value TrainerObject::set_version(const Napi::CallbackInfo& info) {
  const uint64_t version = translated(info.Env(), [&] {
    const uint64_t v = to_id(info[0], "setVersion: version");
    if (v > UINT32_MAX) fail(Code::kConfig, "setVersion: version must fit 32 bits.");
    return v;
  });
  return enqueue(info.Env(), [version](State& s) -> ToJs {
    s.trainer->set_version(uint32_t(version));
    return nothing();
  });
}

Napi::Value TrainerObject::reset_optimizer(const Napi::CallbackInfo& info) {
  const auto config = translated(info.Env(), [&] { return read_optimizer_config(info[0]); });
  return enqueue(info.Env(), [config](State& s) -> ToJs {
    s.trainer->reset_optimizer(config);
    return nothing();
  });
}

Napi::Value TrainerObject::save(const Napi::CallbackInfo& info) {
  const auto [directory, extra] = translated(info.Env(), [&] {
    return std::make_pair(to_text(info[0], "save: directory"), to_text(info[1], "save: extra"));
  });
  return enqueue(info.Env(), [directory = directory, extra = extra](State& s) -> ToJs {
    s.trainer->save(directory, extra);
    return nothing();
  });
}

Napi::Value TrainerObject::load(const Napi::CallbackInfo& info) {
  const std::string directory = translated(info.Env(), [&] { return to_text(info[0], "load: directory"); });
  return enqueue(info.Env(), [directory](State& s) -> ToJs {
    const std::string extra = s.trainer->load(directory);
    return [extra](Napi::Env env) { return Napi::String::New(env, extra); };
  });
}

Napi::Value TrainerObject::parameter(const Napi::CallbackInfo& info) {
  const std::string name = translated(info.Env(), [&] { return to_text(info[0], "parameter: name"); });
  return enqueue(info.Env(), [name](State& s) -> ToJs {
    const model::Parameters& parameters = s.trainer->parameters();
    const TensorView view = parameters.view(name);
    Arena staging(parameters.staging_bytes(view), "parameter");
    const auto* const values = parameters.read(view, staging).as<float>();
    auto copy = std::make_shared<std::vector<float>>(values, values + view.numel());
    return [copy](Napi::Env env) { return new_array<Napi::Float32Array>(env, *copy); };
  });
}

Napi::Value TrainerObject::close(const Napi::CallbackInfo& info) { return state_->worker->close(info.Env()); }

}  // namespace hone::addon
