#include "engine/engine.h"

#include <chrono>
#include <cmath>
#include <utility>

#include "core/device.h"
#include "core/error.h"
#include "core/stopwatch.h"
#include "engine/step_device.h"
#include "engine/page_pool.h"
#include "engine/request_check.h"
#include "engine/scheduler.h"
#include "engine/step.h"
#include "engine/weight_queue.h"
#include "model/network.h"

namespace hone::engine {
namespace {

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

EngineConfig checked(const model::ModelConfig& model, EngineConfig config) {
  model.check();
  check_engine_config(config, model);
  if (config.device == Stream::Backend::kCpu) return config;
  model::check_for_gpu(model);
  config.weight_storage = DType::kBF16;
  config.arithmetic = kernels::Arithmetic::kF32;  // the value that a GPU's snapshots have
  return config;
}

void check_same_network(const model::ModelConfig& mine, const EngineConfig& config, const model::WeightSnapshot& weights) {
  const DType storage = config.weight_storage;
  const model::ModelConfig& given = weights.config;
  const std::pair<const char*, std::pair<int64_t, int64_t>> sizes[] = {
      {"vocabulary", {mine.vocabulary, given.vocabulary}}, {"width", {mine.width, given.width}},
      {"layers", {mine.layers, given.layers}},             {"heads", {mine.heads, given.heads}},
      {"kv_heads", {mine.kv_heads, given.kv_heads}},       {"head_dim", {mine.head_dim, given.head_dim}},
      {"mlp_width", {mine.mlp_width, given.mlp_width}},    {"sliding_window", {mine.sliding_window, given.sliding_window}},
      {"layers of attention", {mine.attention_layers(), given.attention_layers()}},
      {"numbers of a recurrent state", {mine.state_floats(), given.state_floats()}},
      {"experts", {mine.experts.count, given.experts.count}},
      {"experts of a token", {mine.experts.chosen, given.experts.chosen}},
      {"width of an expert", {mine.experts.width, given.experts.width}},
      {"positions of longrope", {mine.rope.extended * mine.max_positions, given.rope.extended * given.max_positions}}};
  for (const auto& [name, values] : sizes) {
    if (values.first == values.second) continue;
    fail(Code::kConfig, "engine: weights have %s %lld, the engine was made for %lld.", name, (long long)values.second,
         (long long)values.first);
  }
  if (weights.storage != storage) {
    fail(Code::kConfig, "engine: weights are stored as %s, the engine was made for %s.", dtype_name(weights.storage),
         dtype_name(storage));
  }
  if (weights.arithmetic != config.arithmetic) {
    fail(Code::kConfig, "engine: weights are multiplied in %s, the engine was made for %s.", kernels::arithmetic_name(weights.arithmetic),
         kernels::arithmetic_name(config.arithmetic));
  }
}

}  // namespace

void StepOutput::clear() {
  request.clear(), attempt.clear(), token.clear(), logprob.clear(), entropy.clear();
  version.clear(), oldest_kv.clear(), finish.clear(), route_rows.clear(), routes.clear();
  ended_request.clear(), ended_attempt.clear(), ended_finish.clear();
}

struct Engine::Impl {
  Impl(const model::ModelConfig& m, const EngineConfig& c, ThreadPool* threads)
      : model(m),
        threads(threads),
        config(checked(model, c)),
        device(config.device, threads, Priority::kUrgent),  // higher priority than a trainer's long steps
        pool(model, config.pages, config.page_tokens, config.weight_storage, device.stream()),
        scheduler(config, pool, model.state_floats(), device.stream()) {
    if (device.stream().is_cuda()) gpu = std::make_unique<DeviceStep>(model, config, pool, device.stream());
    else cpu = std::make_unique<StepRunner>(model, config, pool, threads);
  }

  bool step(StepOutput& output);
  void take_weights();
  void compute(const std::vector<Piece>& pieces, StepOutput& output);
  void record(const Sample& sample, uint32_t version, StepOutput& output);
  void record_routes(const Sample& sample, StepOutput& output);
  void account(const std::vector<Piece>& pieces, double seconds);
  void end(Sequence& sequence);

  model::ModelConfig model;
  ThreadPool* threads;
  EngineConfig config;
  Device device;
  PagePool pool;
  Scheduler scheduler;
  std::unique_ptr<StepRunner> cpu;  // either this or `gpu` is set
  std::unique_ptr<DeviceStep> gpu;
  WeightQueue weights;
  EngineStats stats;
  StepOutput ended;  // only its ended_* arrays are used: aborted attempts to report with the next step
};

void Engine::Impl::end(Sequence& s) {
  if (!s.unfinished()) return;
  ended.ended_request.push_back(s.group->request.id);
  ended.ended_attempt.push_back(s.attempt);
  ended.ended_finish.push_back(Finish::kAbort);
  scheduler.end(s);
}

void Engine::Impl::take_weights() {
  if (!weights.pending() || scheduler.prefilling()) return;
  const Stopwatch watch(stats.weight_swap_seconds);
  if (!weights.advance(scheduler.oldest_needed_version())) return;
  ++stats.weight_swaps;
  if (gpu) weights.replace_current(gpu->take(*weights.current()));
}

bool Engine::Impl::step(StepOutput& output) {
  const auto start = std::chrono::steady_clock::now();
  output.clear();
  std::swap(output.ended_request, ended.ended_request);
  std::swap(output.ended_attempt, ended.ended_attempt);
  std::swap(output.ended_finish, ended.ended_finish);
  const bool reported = !output.ended_request.empty();
  take_weights();
  if (!weights.current()) return reported;
  // A pending version waits only for the prompts in progress, so start no new ones.
  const bool admit = !(weights.pending() && scheduler.prefilling());
  const std::vector<Piece>& pieces = scheduler.schedule(weights.current()->version, admit);
  if (pieces.empty()) {
    if (scheduler.runnable(weights.current()->version)) fail(Code::kInternal, "engine: work is left but no row was scheduled");
    return reported;
  }
  const ThreadPool::Occupied busy(threads);
  compute(pieces, output);
  account(pieces, seconds_since(start));
  return true;
}

void Engine::Impl::compute(const std::vector<Piece>& pieces, StepOutput& output) {
  const model::WeightSnapshot& snapshot = *weights.current();
  const TensorView tables = scheduler.block_tables();
  const std::vector<Sample>& samples = gpu ? gpu->run(pieces, tables) : cpu->run(snapshot, pieces, tables);
  for (const Sample& sample : samples) {
    if (std::isfinite(sample.logprob) && sample.token >= 0 && sample.token < model.vocabulary) continue;
    const uint64_t request = sample.sequence->group->request.id;
    const int32_t attempt = sample.sequence->attempt, token = sample.sequence->generated;
    scheduler.clear();
    pool.scrub();
    fail(Code::kNonFinite,
         "engine: weight version %u gives a log-probability that is not finite for request %llu attempt %d token %d. "
         "All requests were dropped.",
         snapshot.version, (unsigned long long)request, attempt, token);
  }
  scheduler.advance_prompts(snapshot.version);
  for (const Sample& sample : samples) record(sample, snapshot.version, output);
}

void Engine::Impl::record(const Sample& sample, uint32_t version, StepOutput& output) {
  Sequence& s = *sample.sequence;
  s.oldest_kv = std::min(s.oldest_kv, version);
  if (sample.routes) record_routes(sample, output);
  const Finish finish = s.accept(sample.token, config.token_bytes);
  output.request.push_back(s.group->request.id);
  output.attempt.push_back(s.attempt);
  output.token.push_back(sample.token);
  output.logprob.push_back(sample.logprob);
  output.entropy.push_back(sample.entropy);
  output.version.push_back(version);
  output.oldest_kv.push_back(s.oldest_kv);
  output.finish.push_back(finish);
  if (finish == Finish::kRunning) return;
  ++stats.finished;
  scheduler.end(s);
}

void Engine::Impl::record_routes(const Sample& sample, StepOutput& output) {
  const Sequence& s = *sample.sequence;
  const bool first = s.generated == 0;
  const uint8_t* const from = first ? s.group->routes.data() : sample.routes;
  const int32_t rows = first ? s.group->prompt_tokens() : 1;
  output.route_rows.push_back(rows);
  output.routes.insert(output.routes.end(), from, from + rows * model::route_bytes(model));
}

void Engine::Impl::account(const std::vector<Piece>& pieces, double seconds) {
  int64_t prefill = 0, decode = 0;
  for (const Piece& p : pieces) (p.sequence ? decode : prefill) += p.rows;
  ++stats.steps;
  stats.prefill_tokens += prefill;
  stats.decode_tokens += decode;
  stats.busy_seconds += seconds;
  // The time of a step with prompts and decoding rows is divided in proportion to rows.
  stats.prefill_seconds += seconds * double(prefill) / double(prefill + decode);
  stats.decode_seconds += seconds * double(decode) / double(prefill + decode);
}

Engine::Engine(const model::ModelConfig& model, const EngineConfig& config, ThreadPool* pool)
    : impl_(std::make_unique<Impl>(model, config, pool)) {}
Engine::~Engine() = default;

void Engine::set_weights(std::shared_ptr<const model::WeightSnapshot> weights) {
  if (!weights) fail(Code::kConfig, "engine: set_weights got no weights.");
  check_same_network(impl_->model, impl_->config, *weights);
  impl_->weights.push(std::move(weights));
}

void Engine::submit(Request request) {
  Impl& e = *impl_;
  check_request(request, e.config, e.model);
  if (e.scheduler.find(request.id)) {
    fail(Code::kConfig, "engine: request id %llu is in use.", (unsigned long long)request.id);
  }
  if (!request.plan.empty() && e.weights.current() &&
      request.plan.front().front().version < e.weights.current()->version) {
    fail(Code::kState, "engine: request %llu is planned from version %u, but the engine is at %u.",
         (unsigned long long)request.id, request.plan.front().front().version, e.weights.current()->version);
  }
  e.scheduler.submit(std::move(request));
}

void Engine::abort(uint64_t request, int32_t attempt) {
  Group* group = impl_->scheduler.find(request);
  if (!group) return;
  const auto count = int32_t(group->members.size());
  for (int32_t i = 0, alive = group->unfinished; i < count && alive > 0; ++i) {
    if (!group->members[size_t(i)].unfinished()) continue;
    --alive;  // counted first, since the group is destroyed with its last sequence
    if (attempt < 0 || attempt == i) impl_->end(group->members[size_t(i)]);
  }
}

bool Engine::step(StepOutput& output) { return impl_->step(output); }

EngineStats Engine::stats() const {
  EngineStats s = impl_->stats;
  s.running = impl_->scheduler.running();
  s.waiting = impl_->scheduler.waiting();
  s.preemptions = impl_->scheduler.preemptions();
  s.page_swap_seconds = impl_->scheduler.swap_seconds();
  s.pages_total = impl_->pool.total();
  s.pages_used = s.pages_total - impl_->pool.free_pages();
  s.version = impl_->weights.current() ? impl_->weights.current()->version : 0;
  return s;
}

}  // namespace hone::engine
