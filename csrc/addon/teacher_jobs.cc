#include "addon/teacher_jobs.h"

#include <cstdint>
#include <memory>
#include <vector>

#include "addon/arguments.h"
#include "addon/errors.h"
#include "addon/training_batch.h"
#include "core/device.h"

namespace hone::addon {
namespace {

/// A teacher's head: the matrix that turns hidden states into logits.
struct OwnedHead {
  std::vector<float> weights;
  int64_t width = 0;
  float softcap = 0;
};

/// A job that computes a teacher's data. k: number of likeliest tokens; 0: hidden states instead.
TrainerThread::Job teach_job(std::shared_ptr<OwnedBatch> batch, float temperature, int64_t k) {
  return [batch, temperature, k](TrainerThread& thread) -> TrainerThread::Result {
    struct Said {
      std::vector<float> logprobs, hidden, top_logprobs;
      std::vector<int32_t> ids;
    };
    const int64_t rows = batch->step.counted_tokens, width = thread.model().width;
    auto said = std::make_shared<Said>();
    said->logprobs.resize(batch->tokens.size());
    if (k == 0) said->hidden.resize(size_t(rows * width));
    said->ids.resize(size_t(rows * k)), said->top_logprobs.resize(size_t(rows * k));
    thread.trainer().teach(batch->view(), temperature,
                           {.logprobs = said->logprobs.data(),
                            .hidden = k == 0 ? said->hidden.data() : nullptr,
                            .ids = said->ids.data(),
                            .top_logprobs = said->top_logprobs.data(),
                            .k = k});
    return [said, k](Napi::Env env) {
      Napi::Object out = Napi::Object::New(env);
      out.Set("logprobs", new_array<Napi::Float32Array>(env, said->logprobs));
      if (k == 0) out.Set("teacherHidden", new_array<Napi::Float32Array>(env, said->hidden));
      if (k > 0) out.Set("teacherIds", new_array<Napi::Int32Array>(env, said->ids));
      if (k > 0) out.Set("teacherTopLogprobs", new_array<Napi::Float32Array>(env, said->top_logprobs));
      return out;
    };
  };
}

TrainerThread::Job teacher_head_job() {
  return [](TrainerThread& thread) -> TrainerThread::Result {
    const TensorView head = thread.trainer().parameters().head();
    auto copy = std::make_shared<std::vector<float>>(size_t(head.numel()));
    download(thread.trainer().stream(), copy->data(), head.data, head.numel() * int64_t(sizeof(float)));
    return [copy, width = head.dim(1), softcap = thread.model().logit_softcap](Napi::Env env) {
      Napi::Object out = Napi::Object::New(env);
      out.Set("weights", new_array<Napi::Float32Array>(env, *copy));
      out.Set("width", double(width));
      out.Set("softcap", double(softcap));
      return out;
    };
  };
}

std::shared_ptr<OwnedHead> read_teacher_head(const Napi::Value& value) {
  const Fields f(value, "setTeacherHead");
  auto head = std::make_shared<OwnedHead>();
  copy_array(f.get("weights"), "setTeacherHead: weights", head->weights);
  head->width = f.integer<int32_t>("width"), head->softcap = float(f.number("softcap"));
  if (head->width >= 1 && !head->weights.empty() && head->weights.size() % size_t(head->width) == 0) return head;
  fail(Code::kShape, "setTeacherHead: %zu weights in rows of %lld.", head->weights.size(), (long long)head->width);
}

TrainerThread::Job set_teacher_head_job(std::shared_ptr<OwnedHead> head) {
  return [head](TrainerThread& thread) -> TrainerThread::Result {
    const int64_t rows = int64_t(head->weights.size()) / head->width;
    thread.trainer().teacher().set(thread.trainer().stream(), head->weights.data(), rows, head->width, head->softcap);
    return nullptr;
  };
}

}  // namespace

float to_temperature(const Napi::Value& value, const char* call) {
  if (!value.IsNumber()) fail(Code::kConfig, "%s: temperature must be a number.", call);
  return value.As<Napi::Number>().FloatValue();
}

Napi::Value teach(const Napi::CallbackInfo& info, TrainerThread& thread) {
  auto batch = std::make_shared<OwnedBatch>();
  float temperature = 1.0f;
  uint64_t k = 0;
  translated(info.Env(), [&] {
    *batch = read_batch(info[0]);
    temperature = to_temperature(info[1], "teach");
    k = to_id(info[2], "teach: topK");
    if (k <= uint64_t(thread.model().vocabulary)) return;
    fail(Code::kConfig, "teach: topK is %llu, of a vocabulary of %lld.", (unsigned long long)k, (long long)thread.model().vocabulary);
  });
  return thread.run(info.Env(), teach_job(batch, temperature, int64_t(k)));
}

Napi::Value teacher_head(const Napi::CallbackInfo& info, TrainerThread& thread) { return thread.run(info.Env(), teacher_head_job()); }

Napi::Value set_teacher_head(const Napi::CallbackInfo& info, TrainerThread& thread) {
  const auto head = translated(info.Env(), [&] { return read_teacher_head(info[0]); });
  return thread.run(info.Env(), set_teacher_head_job(head));
}

}  // namespace hone::addon
