// Training steps of a student that learns from a teacher's whole distributions; the student's trainer is
// alone or one of several ranks, on CPU or GPU.
#pragma once

#include <algorithm>
#include <vector>

#include "trainer/sharded_course.h"

namespace hone::test {

/// A teacher's results for a batch: log-probs, hidden states, or its likeliest tokens.
struct Said {
  std::vector<float> logprobs, hidden, top;
  std::vector<int32_t> ids;
};

/// Computes a teacher's results for a batch: the k likeliest tokens per row or, if k is 0, hidden states.
inline Said said_by(Trainer& teacher, const Batch& batch, int64_t width, int64_t k) {
  const auto view = batch.view();
  const auto rows = size_t(view.step.counted_tokens);
  Said said;
  said.logprobs.resize(batch.tokens.size()), said.hidden.resize(k == 0 ? rows * size_t(width) : 0);
  said.ids.resize(rows * size_t(k), -1), said.top.resize(rows * size_t(k));
  teacher.teach(view, 0.9f, {.logprobs = said.logprobs.data(), .hidden = k == 0 ? said.hidden.data() : nullptr, .ids = said.ids.data(), .top_logprobs = said.top.data(), .k = k});
  return said;
}

inline trainer::TrainingBatch taught_view(const Batch& batch, const Said& said, int64_t width, int64_t k) {
  auto view = batch.view();
  if (k == 0) view.teacher = {.hidden = said.hidden.data(), .columns = width};
  else view.teacher = {.ids = said.ids.data(), .logprobs = said.top.data(), .columns = k};
  return view;
}

/// The student's training results, and what the teacher computed in each step.
struct TaughtCourse {
  Course course;
  std::vector<Said> said;
};

inline std::vector<float> host_copy(const model::TensorBlock& block, const TensorView& tensor) {
  Arena staging(block.staging_bytes(tensor), "test");
  const float* const x = block.read(tensor, staging).as<float>();
  return {x, x + tensor.numel()};
}

inline void start(Trainer& trainer, uint64_t seed) {
  trainer.parameters().initialize(seed);
  std::vector<float> head = host_copy(trainer.parameters(), trainer.parameters().head());
  for (float& x : head) x *= 8.0f;  // makes the teacher's distributions less flat
  trainer.parameters().write(trainer.parameters().head(), [&](const TensorView& to) { std::copy(head.begin(), head.end(), to.as<float>()); });
  trainer.parameters_changed();
}

/// Runs the training. Teacher and student have the same config; the teacher is never trained.
inline TaughtCourse taught_course(const model::ModelConfig& model, const TrainerConfig& config, const StepOptions& o,
                                  const std::vector<Batch>& batches, int64_t k, dist::Communicator* ranks = nullptr) {
  Trainer student(model, config, nullptr, ranks), teacher(model, config, nullptr, ranks);
  start(student, 3), start(teacher, 4);
  const std::vector<float> head = host_copy(teacher.parameters(), teacher.parameters().head());
  student.teacher().set(student.stream(), head.data(), model.vocabulary, model.width, 0.0f);
  TaughtCourse out;
  for (const Batch& batch : batches) {
    out.said.push_back(said_by(teacher, batch, model.width, k));
    out.course.reports.push_back(student.step(taught_view(batch, out.said.back(), model.width, k), o));
  }
  out.course.weights = host_copy(student.trained(), student.trained().flat());
  return out;
}

inline bool same_said(const TaughtCourse& a, const TaughtCourse& b) {
  bool all = a.said.size() == b.said.size();
  for (size_t i = 0; all && i < a.said.size(); ++i) {
    const Said &x = a.said[i], &y = b.said[i];
    all = same(x.logprobs, y.logprobs) && same(x.hidden, y.hidden) && same(x.ids, y.ids) && same(x.top, y.top);
  }
  return all;
}

inline StepOptions taught_options(float beta, bool rest = false) {
  StepOptions o = options_of(Objective::kSupervised);
  o.temperature = 0.9f;
  o.divergence = {.coef = 0.7f, .beta = beta, .by_sequence = rest, .rest = rest};
  return o;
}

}  // namespace hone::test
