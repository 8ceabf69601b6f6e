#include "addon/trainer_object.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "addon/arguments.h"
#include "addon/communicator_object.h"
#include "addon/engine_object.h"
#include "addon/errors.h"
#include "addon/model_options.h"
#include "addon/slopes_function.h"
#include "addon/teacher_jobs.h"
#include "addon/training_batch.h"
#include "core/stopwatch.h"
#include "model/hf_loader.h"
#include "trainer/weight_transfer.h"

namespace hone::addon {
namespace {

using Job = TrainerThread::Job;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Job step_job(std::shared_ptr<OwnedBatch> batch, const trainer::StepOptions& options, std::shared_ptr<EngineThread> engine) {
  return [batch, options, engine, called = Clock::now()](TrainerThread& thread) -> TrainerThread::Result {
    const double start_seconds = seconds_since(called);
    auto report = std::make_shared<trainer::StepReport>(thread.trainer().step(batch->view(), options));
    double publish_seconds = 0;
    if (engine && !report->skipped) {
      const Stopwatch watch(publish_seconds);
      thread.publish(*engine);
    }
    return [=](Napi::Env env) {
      Napi::Object out = to_js(env, *report);
      out.Set("startSeconds", start_seconds);
      out.Set("publishSeconds", publish_seconds);
      return out;
    };
  };
}

/// Arguments of a step, or of a measurement of the gradients of a batch's parts.
struct StepCall {
  std::shared_ptr<OwnedBatch> batch;
  trainer::StepOptions options;
  std::shared_ptr<SlopesFunction> slopes;  // the custom objective's function; null for other objectives
  std::function<void(Napi::Env)> release() const {
    if (!slopes) return nullptr;
    return [slopes = slopes](Napi::Env env) { slopes->release(env); };
  }
};

StepCall read_step_call(const Napi::CallbackInfo& info, Worker& worker) {
  StepCall call{std::make_shared<OwnedBatch>(read_batch(info[0])), read_step_options(info[1]), nullptr};
  call.slopes = SlopesFunction::read(info[1]);
  if (!call.slopes) return call;
  call.options.slopes = [slopes = call.slopes, &worker](const trainer::SlopesRequest& request) { slopes->ask(worker, request); };
  return call;
}

struct Parts {
  std::vector<int32_t> of;  // [S] part of each sequence
  int32_t count = 0;
};

Parts read_parts(const Napi::CallbackInfo& info, const OwnedBatch& batch) {
  Parts parts;
  copy_array(info[2], "gradientParts: partOf", parts.of);
  const size_t sequences = batch.cu_seqlens.size() - 1;
  if (parts.of.size() != sequences) {
    fail(Code::kShape, "gradientParts: partOf has %zu entries for %zu sequences.", parts.of.size(), sequences);
  }
  parts.count = int32_t(std::min<uint64_t>(to_id(info[3], "gradientParts: parts"), INT32_MAX));
  return parts;
}

Job gradient_parts_job(const StepCall& call, const Parts& parts) {
  return [batch = call.batch, options = call.options, parts](TrainerThread& thread) -> TrainerThread::Result {
    const auto start = Clock::now();
    auto result = std::make_shared<trainer::GradientParts>(
        thread.trainer().gradient_parts(batch->view(), options, parts.of.data(), parts.count));
    return [result, seconds = seconds_since(start)](Napi::Env env) {
      Napi::Object out = Napi::Object::New(env);
      out.Set("products", new_array<Napi::Float64Array>(env, result->products));
      out.Set("nonFiniteSequence", double(result->non_finite_sequence));
      out.Set("microBatches", double(result->micro_batches));
      out.Set("seconds", seconds);
      return out;
    };
  };
}

Job score_job(std::shared_ptr<OwnedBatch> batch, float temperature) {
  return [batch, temperature](TrainerThread& thread) -> TrainerThread::Result {
    auto logprobs = std::make_shared<std::vector<float>>(batch->tokens.size());
    auto entropies = std::make_shared<std::vector<float>>(batch->tokens.size());
    thread.trainer().score(batch->view(), temperature, logprobs->data(), entropies->data());
    return [logprobs, entropies](Napi::Env env) {
      Napi::Object out = Napi::Object::New(env);
      out.Set("logprobs", new_array<Napi::Float32Array>(env, *logprobs));
      out.Set("entropies", new_array<Napi::Float32Array>(env, *entropies));
      return out;
    };
  };
}

uint32_t to_version(const Napi::Value& value) {
  const uint64_t version = to_id(value, "setVersion: version");
  if (version > UINT32_MAX) fail(Code::kConfig, "setVersion: version must fit 32 bits.");
  return uint32_t(version);
}

Job parameter_job(const std::string& name) {
  return [name](TrainerThread& thread) -> TrainerThread::Result {
    trainer::Trainer& trainer = thread.trainer();
    const model::TensorBlock& parameters = trainer.trained().has(name) ? trainer.trained() : trainer.parameters();
    const TensorView view = parameters.view(name);
    Arena staging(parameters.staging_bytes(view), "parameter");
    const auto* const values = parameters.read(view, staging).as<float>();
    auto copy = std::make_shared<std::vector<float>>(values, values + view.numel());
    return [copy](Napi::Env env) { return new_array<Napi::Float32Array>(env, *copy); };
  };
}

/// A job whose promise resolves to undefined.
template <typename Act>
Job silent(Act act) {
  return [act](TrainerThread& thread) -> TrainerThread::Result {
    act(thread.trainer());
    return nullptr;
  };
}

struct Sending {
  std::shared_ptr<CommunicatorThread> group;
  int64_t bucket_bytes = trainer::kBucketBytes;
};

Sending read_sending(const Napi::CallbackInfo& info) {
  Sending sending{CommunicatorObject::from(info[0], "sendWeights").thread()};
  if (sending.group->rank() != 0) fail(Code::kConfig, "sendWeights: rank 0 sends; this is rank %d.", sending.group->rank());
  int64_t& bytes = sending.bucket_bytes;
  if (!info[1].IsUndefined()) bytes = Fields(info[1], "sendWeights").integer_or<int32_t>("bucketBytes", int32_t(bytes));
  if (bytes < 4 || bytes > trainer::kBucketBytes) {
    fail(Code::kConfig, "sendWeights: bucketBytes is %lld, not one of 4 to 64 MiB.", (long long)bytes);
  }
  return sending;
}

/// A job whose promise resolves with the ranks that did not receive the weights.
Job send_job(const Sending& sending) {
  return [sending](TrainerThread& thread) -> TrainerThread::Result {
    trainer::Trainer& trainer = thread.trainer();
    const auto adapters = trainer.adapter_source(sending.bucket_bytes);
    const auto weights = adapters ? nullptr : trainer.snapshot();
    auto refused = std::make_shared<std::vector<int32_t>>();
    thread.use(*sending.group, [&](dist::Communicator& ranks) {
      const std::vector<int> left_out = adapters ? trainer::send_adapters(ranks, *adapters)
                                                 : trainer::send_weights(ranks, trainer.stream(), *weights, sending.bucket_bytes);
      refused->assign(left_out.begin(), left_out.end());
    });
    return [refused](Napi::Env env) { return new_array<Napi::Int32Array>(env, *refused); };
  };
}

/// The communicator `name` in a trainer's options, for its ranks or their background writes; may be null.
std::shared_ptr<CommunicatorThread> read_group(const Napi::Value& options, const char* name) {
  const Fields f(options, "trainer");
  if (!f.has("sharding")) return nullptr;
  const Fields sharding = f.fields("sharding");
  if (!sharding.has(name)) return nullptr;
  return CommunicatorObject::from(sharding.get(name), (std::string("trainer.sharding.") + name).c_str()).thread();
}

/// A job that calls `act`, which is TrainerThread's save or stage. `call`: its name in messages.
Job saving_job(const Napi::CallbackInfo& info, const std::string& call, void (TrainerThread::*act)(const std::string&, const std::string&)) {
  const auto [directory, extra] = translated(info.Env(), [&] {
    return std::make_pair(to_text(info[0], (call + ": directory").c_str()), to_text(info[1], (call + ": extra").c_str()));
  });
  return [directory = directory, extra = extra, act](TrainerThread& thread) -> TrainerThread::Result {
    (thread.*act)(directory, extra);
    return nullptr;
  };
}

}  // namespace

Napi::Function TrainerObject::define(Napi::Env env) {
  return DefineClass(
      env, "NativeTrainer",
      {InstanceAccessor<&TrainerObject::version>("version"), InstanceMethod<&TrainerObject::initialize>("initialize"),
       InstanceMethod<&TrainerObject::load_hf>("loadHf"), InstanceMethod<&TrainerObject::step>("step"),
       InstanceMethod<&TrainerObject::gradient_parts>("gradientParts"),
       InstanceMethod<&TrainerObject::score>("score"), InstanceMethod<&TrainerObject::call<teach>>("teach"),
       InstanceMethod<&TrainerObject::call<teacher_head>>("teacherHead"), InstanceMethod<&TrainerObject::call<set_teacher_head>>("setTeacherHead"),
       InstanceMethod<&TrainerObject::publish>("publish"), InstanceMethod<&TrainerObject::set_version>("setVersion"),
       InstanceMethod<&TrainerObject::reset_optimizer>("resetOptimizer"), InstanceMethod<&TrainerObject::save>("save"),
       InstanceMethod<&TrainerObject::stage>("stage"), InstanceMethod<&TrainerObject::written>("written"), InstanceMethod<&TrainerObject::load>("load"),
       InstanceMethod<&TrainerObject::load_adapters>("loadAdapters"), InstanceMethod<&TrainerObject::save_model>("saveModel"), InstanceMethod<&TrainerObject::gather_weights>("gatherWeights"),
       InstanceMethod<&TrainerObject::parameter>("parameter"),
       InstanceMethod<&TrainerObject::send_weights>("sendWeights"), InstanceMethod<&TrainerObject::close>("close")});
}

TrainerObject::TrainerObject(const Napi::CallbackInfo& info) : Napi::ObjectWrap<TrainerObject>(info) {
  translated(info.Env(), [&] {
    auto thread = std::make_shared<TrainerThread>(read_model_config(info[0]), read_trainer_config(info[1]),
                                                  read_group(info[1], "communicator"), read_group(info[1], "writers"));
    thread->start(info.Env());
    thread_ = std::move(thread);
  });
}

TrainerObject::~TrainerObject() {
  if (thread_) thread_->abandon();
}

Napi::Value TrainerObject::version(const Napi::CallbackInfo& info) {
  return Napi::Number::New(info.Env(), thread_->version());
}

Napi::Value TrainerObject::initialize(const Napi::CallbackInfo& info) {
  const uint64_t seed = translated(info.Env(), [&] { return to_uint64(info[0], "initialize: seed"); });
  return thread_->run(info.Env(), silent([seed](trainer::Trainer& trainer) {
    trainer.parameters().initialize(seed);
    trainer.parameters_changed();
  }));
}

Napi::Value TrainerObject::load_hf(const Napi::CallbackInfo& info) {
  const std::string directory = translated(info.Env(), [&] { return to_text(info[0], "loadHf: directory"); });
  return thread_->run(info.Env(), silent([directory](trainer::Trainer& trainer) {
    model::load_hf_weights(directory, trainer.parameters());
    trainer.parameters_changed();
  }));
}

Napi::Value TrainerObject::step(const Napi::CallbackInfo& info) {
  StepCall call;
  std::shared_ptr<EngineThread> engine;
  translated(info.Env(), [&] {
    call = read_step_call(info, thread_->worker());
    if (!info[2].IsUndefined()) engine = EngineObject::thread_for(thread_->model(), info[2], "publish");
  });
  return thread_->run(info.Env(), step_job(call.batch, call.options, engine), call.release());
}

Napi::Value TrainerObject::gradient_parts(const Napi::CallbackInfo& info) {
  StepCall call;
  Parts parts;
  translated(info.Env(), [&] {
    call = read_step_call(info, thread_->worker());
    parts = read_parts(info, *call.batch);
  });
  return thread_->run(info.Env(), gradient_parts_job(call, parts), call.release());
}

Napi::Value TrainerObject::score(const Napi::CallbackInfo& info) {
  auto batch = std::make_shared<OwnedBatch>();
  float temperature = 1.0f;
  translated(info.Env(), [&] {
    *batch = read_batch(info[0]);
    temperature = to_temperature(info[1], "score");
  });
  return thread_->run(info.Env(), score_job(batch, temperature));
}

Napi::Value TrainerObject::publish(const Napi::CallbackInfo& info) {
  const auto engine = translated(info.Env(), [&] { return EngineObject::thread_for(thread_->model(), info[0], "publish"); });
  return thread_->run(info.Env(), [engine](TrainerThread& thread) {
    thread.publish(*engine);
    return [version = thread.trainer().version()](Napi::Env env) { return Napi::Number::New(env, version); };
  });
}

Napi::Value TrainerObject::send_weights(const Napi::CallbackInfo& info) {
  const Sending sending = translated(info.Env(), [&] { return read_sending(info); });
  sending.group->abort_before_others(info.Env());
  return thread_->run(info.Env(), send_job(sending));
}

Napi::Value TrainerObject::set_version(const Napi::CallbackInfo& info) {
  const uint32_t version = translated(info.Env(), [&] { return to_version(info[0]); });
  return thread_->run(info.Env(), silent([version](trainer::Trainer& trainer) { trainer.set_version(version); }));
}

Napi::Value TrainerObject::reset_optimizer(const Napi::CallbackInfo& info) {
  const auto config = translated(info.Env(), [&] { return read_optimizer_config(info[0]); });
  return thread_->run(info.Env(), silent([config](trainer::Trainer& trainer) { trainer.reset_optimizer(config); }));
}

Napi::Value TrainerObject::save(const Napi::CallbackInfo& info) {
  return thread_->run(info.Env(), saving_job(info, "save", &TrainerThread::save));
}

Napi::Value TrainerObject::stage(const Napi::CallbackInfo& info) {
  return thread_->run(info.Env(), saving_job(info, "stage", &TrainerThread::stage));
}

Napi::Value TrainerObject::written(const Napi::CallbackInfo& info) { return thread_->written(info.Env()); }

Napi::Value TrainerObject::load(const Napi::CallbackInfo& info) {
  const std::string directory = translated(info.Env(), [&] { return to_text(info[0], "load: directory"); });
  return thread_->run(info.Env(), [directory](TrainerThread& thread) {
    return [extra = thread.trainer().load(directory)](Napi::Env env) { return Napi::String::New(env, extra); };
  });
}

Napi::Value TrainerObject::load_adapters(const Napi::CallbackInfo& info) {
  const std::string directory = translated(info.Env(), [&] { return to_text(info[0], "loadAdapters: directory"); });
  return thread_->run(info.Env(), silent([directory](trainer::Trainer& trainer) { trainer.load_adapters(directory); }));
}

Napi::Value TrainerObject::save_model(const Napi::CallbackInfo& info) {
  const std::string directory = translated(info.Env(), [&] { return to_text(info[0], "saveModel: directory"); });
  return thread_->run(info.Env(), silent([directory](trainer::Trainer& trainer) { trainer.save_model(directory); }));
}

Napi::Value TrainerObject::gather_weights(const Napi::CallbackInfo& info) {
  return thread_->run(info.Env(), silent([](trainer::Trainer& trainer) { trainer.parameters(); }));
}

Napi::Value TrainerObject::parameter(const Napi::CallbackInfo& info) {
  const std::string name = translated(info.Env(), [&] { return to_text(info[0], "parameter: name"); });
  return thread_->run(info.Env(), parameter_job(name));
}

Napi::Value TrainerObject::close(const Napi::CallbackInfo& info) { return thread_->close(info.Env()); }

}  // namespace hone::addon
