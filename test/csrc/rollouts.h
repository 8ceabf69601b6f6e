// Runs an engine until it has no more work, and collects what each attempt produced; for engine and contract
// tests.
#pragma once

#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "check.h"
#include "engine/engine.h"

namespace hone::test {

struct Rollout {
  std::vector<int32_t> tokens;
  std::vector<float> logprobs, entropies;
  std::vector<uint32_t> versions, oldest_kv;
  std::vector<uint8_t> routes;  // of all its rows but the last, if the engine records routes
  engine::Finish finish = engine::Finish::kRunning;
};
/// Rollouts by request id and attempt.
using Rollouts = std::map<std::pair<uint64_t, int32_t>, Rollout>;

inline void gather(const engine::StepOutput& step, Rollouts& into) {
  const auto rows = std::accumulate(step.route_rows.begin(), step.route_rows.end(), int64_t(0));
  const int64_t bytes = rows > 0 ? int64_t(step.routes.size()) / rows : 0;
  auto route = step.routes.begin();
  for (size_t i = 0; i < step.token.size(); ++i) {
    Rollout& r = into[{step.request[i], step.attempt[i]}];
    EXPECT_TRUE(r.finish == engine::Finish::kRunning);
    r.tokens.push_back(step.token[i]);
    r.logprobs.push_back(step.logprob[i]);
    r.entropies.push_back(step.entropy[i]);
    r.versions.push_back(step.version[i]);
    r.oldest_kv.push_back(step.oldest_kv[i]);
    r.finish = step.finish[i];
    if (bytes == 0) continue;
    r.routes.insert(r.routes.end(), route, route + step.route_rows[i] * bytes);
    route += step.route_rows[i] * bytes;
  }
  for (size_t i = 0; i < step.ended_request.size(); ++i) {
    into[{step.ended_request[i], step.ended_attempt[i]}].finish = step.ended_finish[i];
  }
}

/// Steps the engine until it has nothing left to do.
inline Rollouts drain(engine::Engine& engine) {
  Rollouts all;
  for (engine::StepOutput step; engine.step(step);) gather(step, all);
  return all;
}

inline bool same_rollout(const Rollout& a, const Rollout& b) {
  const auto n = int64_t(a.tokens.size());
  return a.tokens == b.tokens && a.versions == b.versions && a.oldest_kv == b.oldest_kv && a.finish == b.finish && a.routes == b.routes &&
         same_bits(a.logprobs.data(), b.logprobs.data(), n) && same_bits(a.entropies.data(), b.entropies.data(), n);
}

/// A small decoder whose odd sizes are no multiple of any tile, with grouped heads; q/k norm and bias if
/// `decorated`.
inline model::ModelConfig small_decoder(bool decorated = false) {
  model::ModelConfig c;
  c.arch = decorated ? "qwen3" : "llama";
  c.vocabulary = 61, c.width = 40, c.layers = 2, c.heads = 4, c.kv_heads = 2, c.head_dim = 10, c.mlp_width = 52;
  c.max_positions = 256;
  c.tied_head = true;
  c.qk_norm = decorated;
  return c;
}

/// small_decoder() with sizes that GPU kernels support.
inline model::ModelConfig small_gpu_decoder(bool decorated = false) {
  model::ModelConfig c = small_decoder(decorated);
  c.head_dim = 16, c.mlp_width = 56;
  c.tied_head = !decorated;
  return c;
}

/// Scales the head, so that token distributions are neither uniform nor certain.
inline void scale_head(model::Parameters& parameters) {
  const TensorView head = parameters.head();
  Arena staging(parameters.staging_bytes(head), "test");
  const float* const values = parameters.read(head, staging).as<float>();
  parameters.write(head, [&](const TensorView& host) {
    for (int64_t i = 0; i < head.numel(); ++i) host.as<float>()[i] = values[i] * 8.0f;
  });
}

/// Random weights with scaled embeddings (and tied head), so that token distributions are neither uniform nor
/// certain.
inline std::shared_ptr<const model::WeightSnapshot> random_weights(const model::ModelConfig& config, uint64_t seed,
                                                                   uint32_t version) {
  model::Parameters parameters(config);
  parameters.initialize(seed);
  scale_head(parameters);
  return model::WeightSnapshot::make(Stream{}, parameters, version);
}

inline engine::Request random_request(const model::ModelConfig& config, uint64_t id, int64_t longest_prompt,
                                      int32_t max_tokens) {
  engine::Request r;
  r.id = id;
  r.problem = uint32_t(id * 7 + 3);
  r.prompt.resize(size_t(random_int(1, longest_prompt)));
  for (int32_t& t : r.prompt) t = int32_t(random_int(0, config.vocabulary - 1));
  r.max_tokens = max_tokens;
  return r;
}

}  // namespace hone::test
