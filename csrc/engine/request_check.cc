#include "engine/request_check.h"

#include "core/error.h"
#include "model/routes.h"

namespace hone::engine {
namespace {

constexpr int32_t kMostSequences = 1 << 16;  // limit of maxRunning, and of a request's attempts

void in_range(const char* field, int64_t value, int64_t low, int64_t high) {
  if (value >= low && value <= high) return;
  fail(Code::kConfig, "engine: %s is %lld; it must be in [%lld, %lld].", field, (long long)value, (long long)low, (long long)high);
}

void check_prompt(const Request& r, const EngineConfig& config, const model::ModelConfig& model) {
  const auto id = (unsigned long long)r.id;
  if (r.prompt.empty()) fail(Code::kConfig, "request %llu: the prompt is empty.", id);
  for (size_t i = 0; i < r.prompt.size(); ++i) {
    if (r.prompt[i] >= 0 && r.prompt[i] < model.vocabulary) continue;
    fail(Code::kConfig, "request %llu: prompt token %zu is %d, outside the vocabulary of %lld.", id, i, r.prompt[i],
         (long long)model.vocabulary);
  }
  if (r.count < 1 || r.count > kMostSequences) {
    fail(Code::kConfig, "request %llu: count is %d; it must be in [1, %d].", id, r.count, kMostSequences);
  }
  if (r.begun < 0 || size_t(r.begun) >= r.prompt.size()) {
    fail(Code::kConfig, "request %llu: begun is %d; it must be in [0, %zu), for a prompt of %zu tokens.", id, r.begun,
         r.prompt.size(), r.prompt.size());
  }
  if (r.max_tokens < 1) fail(Code::kConfig, "request %llu: maxTokens is %d; it must be at least 1.", id, r.max_tokens);
  const int64_t length = int64_t(r.prompt.size()) + r.max_tokens;
  if (length > config.max_context) {
    fail(Code::kConfig, "request %llu: prompt %zu + maxTokens %d is %lld tokens, above engine.maxContext %d.", id,
         r.prompt.size(), r.max_tokens, (long long)length, config.max_context);
  }
  // The last token's keys are never written. A partial prompt page is copied for the other attempts, which
  // takes one more page.
  const int64_t W = config.page_tokens, aside = r.count > 1 && int64_t(r.prompt.size()) % W != 0;
  const int64_t pages = (length - 1 + W - 1) / W + aside;
  if (pages > config.pages) {
    fail(Code::kConfig, "request %llu: one attempt may need %lld pages of %d tokens, engine.pages is %d.", id,
         (long long)pages, config.page_tokens, config.pages);
  }
}

void check_sampling(const Request& r) {
  const auto id = (unsigned long long)r.id;
  const kernels::SamplingParams& s = r.sampling;
  // With a temperature below 1e-6, logits divided by it would overflow.
  if (s.temperature != 0.0f && !(s.temperature >= 1e-6f && s.temperature <= 1e4f)) {
    fail(Code::kConfig, "request %llu: temperature is %g; it must be 0 (greedy) or in [1e-6, 10000].", id, double(s.temperature));
  }
  if (s.top_k < 0) fail(Code::kConfig, "request %llu: topK is %d; 0 turns it off.", id, s.top_k);
  if (!(s.top_p > 0.0f && s.top_p <= 1.0f)) {
    fail(Code::kConfig, "request %llu: topP is %g; it must be in (0, 1].", id, double(s.top_p));
  }
  if (!(s.min_p >= 0.0f && s.min_p < 1.0f)) {
    fail(Code::kConfig, "request %llu: minP is %g; it must be in [0, 1).", id, double(s.min_p));
  }
  if (s.vocabulary < 0) {
    fail(Code::kConfig, "request %llu: sampling.vocabulary is %d; it must be above 0, or 0 for the model's whole vocabulary.", id, s.vocabulary);
  }
}

void check_stops(const Request& r, const EngineConfig& config) {
  const auto id = (unsigned long long)r.id;
  for (const std::string& s : r.stop_strings) {
    if (s.empty()) fail(Code::kConfig, "request %llu: a stop string is empty.", id);
  }
  if (!r.stop_strings.empty() && config.token_bytes.empty()) {
    fail(Code::kConfig, "request %llu: stop strings need engine.tokenBytes.", id);
  }
}

void check_seeds(const Request& r) {
  if (r.seeds.empty() || int64_t(r.seeds.size()) == r.count) return;
  fail(Code::kConfig, "request %llu: seeds has %zu entries for %d attempts.", (unsigned long long)r.id, r.seeds.size(), r.count);
}

void check_plan(const Request& r) {
  const auto id = (unsigned long long)r.id;
  if (r.plan.empty()) return;
  if (int64_t(r.plan.size()) != r.count) {
    fail(Code::kConfig, "request %llu: the plan covers %zu attempts of %d.", id, r.plan.size(), r.count);
  }
  for (size_t a = 0; a < r.plan.size(); ++a) {
    const std::vector<VersionRun>& runs = r.plan[a];
    if (runs.empty() || runs.front().from_token != 0) {
      fail(Code::kConfig, "request %llu: the plan of attempt %zu must start at token 0.", id, a);
    }
    if (runs.front().version != r.plan.front().front().version) {
      fail(Code::kConfig, "request %llu: attempts share one prefill, but attempt %zu is planned from version %u, attempt 0 from %u.",
           id, a, runs.front().version, r.plan.front().front().version);
    }
    for (size_t i = 1; i < runs.size(); ++i) {
      if (runs[i].from_token > runs[i - 1].from_token && runs[i].version > runs[i - 1].version) continue;
      fail(Code::kConfig, "request %llu: the plan of attempt %zu must ascend in tokens and versions; run %zu does not.", id, a, i);
    }
  }
}

}  // namespace

void check_engine_config(const EngineConfig& config, const model::ModelConfig& model) {
  const bool cpu = config.device == Stream::Backend::kCpu;
  if (cpu && config.arithmetic == kernels::Arithmetic::kBF16 && config.weight_storage != DType::kBF16) {
    fail(Code::kConfig, "engine: bf16 arithmetic multiplies weights stored as bf16; weight_storage is %s.", dtype_name(config.weight_storage));
  }
  // The upper bounds keep every product of sizes within 64 bits.
  in_range("maxRunning", config.max_running, 1, kMostSequences);
  in_range("pages", config.pages, 1, 1 << 28);
  in_range("maxContext", config.max_context, 2, INT32_MAX);
  in_range("stepTokens", config.step_tokens, 1, 1 << 24);
  in_range("pageTokens", config.page_tokens, 16, 1 << 12);
  if (config.page_tokens % 16 != 0) {
    fail(Code::kConfig, "engine: pageTokens is %d; it must be a multiple of 16.", config.page_tokens);
  }
  if (config.max_context > model.max_positions) {
    fail(Code::kConfig, "engine: maxContext is %d, above the model's max_positions %lld.", config.max_context,
         (long long)model.max_positions);
  }
  if (config.routes && !model.mixes()) fail(Code::kConfig, "engine: routes are to be recorded, but %s has no experts.", model.arch.c_str());
  if (config.routes && config.device == Stream::Backend::kCuda) {
    fail(Code::kUnsupported, "engine: routes are to be recorded, which only an engine on the CPU does; choose device \"cpu\", or do not replay routes.");
  }
  if (config.routes && model.experts.count > model::kMostRouted) {
    fail(Code::kConfig, "engine: routes name at most %lld experts, %s has %lld.", (long long)model::kMostRouted, model.arch.c_str(), (long long)model.experts.count);
  }
  if (int64_t(config.token_bytes.size()) > model.vocabulary) {
    fail(Code::kConfig, "engine: tokenBytes has %zu entries for a vocabulary of %lld.", config.token_bytes.size(),
         (long long)model.vocabulary);
  }
}

void check_request(const Request& request, const EngineConfig& config, const model::ModelConfig& model) {
  check_prompt(request, config, model);
  check_sampling(request);
  check_stops(request, config);
  check_seeds(request);
  check_plan(request);
}

}  // namespace hone::engine
