#include "addon/model_options.h"

#include <utility>

#include "addon/arguments.h"
#include "addon/errors.h"
#include "core/json.h"
#include "engine/page_pool.h"

namespace hone::addon {
namespace {

kernels::SamplingParams read_sampling(const Fields& f) {
  kernels::SamplingParams s;
  s.temperature = float(f.number("temperature"));
  s.top_k = f.integer_or<int32_t>("topK", 0);
  s.top_p = f.number_or("topP", 1.0f);
  s.min_p = f.number_or("minP", 0.0f);
  s.vocabulary = f.integer_or<int32_t>("vocabulary", 0);
  return s;
}

std::vector<std::vector<engine::VersionRun>> read_plan(const Fields& f) {
  std::vector<std::vector<engine::VersionRun>> plan;
  if (!f.has("plan")) return plan;
  if (!f.get("plan").IsArray()) fail(Code::kConfig, "request.plan must be an array of arrays.");
  const Napi::Array attempts = f.get("plan").As<Napi::Array>();
  for (uint32_t a = 0; a < attempts.Length(); ++a) {
    const Napi::Value runs_value = attempts.Get(a);
    if (!runs_value.IsArray()) fail(Code::kConfig, "request.plan[%u] must be an array.", a);
    const Napi::Array runs = runs_value.As<Napi::Array>();
    plan.emplace_back();
    for (uint32_t i = 0; i < runs.Length(); ++i) {
      const Fields run(runs.Get(i), "request.plan[][]");
      plan.back().push_back({run.integer<int32_t>("fromToken"), run.integer<uint32_t>("version")});
    }
  }
  return plan;
}

std::vector<std::string> read_token_bytes(const Fields& f) {
  std::vector<std::string> out;
  if (!f.has("tokenBytes")) return out;
  if (!f.get("tokenBytes").IsArray()) fail(Code::kConfig, "engine.tokenBytes must be an array of Uint8Array.");
  const Napi::Array tokens = f.get("tokenBytes").As<Napi::Array>();
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < tokens.Length(); ++i) {
    const Napi::HandleScope scope(tokens.Env());
    copy_array(tokens.Get(i), "engine.tokenBytes[]", bytes);
    out.emplace_back(bytes.begin(), bytes.end());
  }
  return out;
}

Napi::Float64Array ids_array(Napi::Env env, const std::vector<uint64_t>& ids) {
  Napi::Float64Array array = Napi::Float64Array::New(env, ids.size());
  // exact in f64: to_id has checked that they are safe integers
  for (size_t i = 0; i < ids.size(); ++i) array.Data()[i] = double(ids[i]);
  return array;
}

Napi::Uint8Array finish_array(Napi::Env env, const std::vector<engine::Finish>& finish) {
  Napi::Uint8Array array = Napi::Uint8Array::New(env, finish.size());
  for (size_t i = 0; i < finish.size(); ++i) array.Data()[i] = uint8_t(finish[i]);
  return array;
}

Napi::Object to_js(Napi::Env env, const model::ModelConfig& c) {
  int64_t parameters = 0, vectors = 0, mixing = 0;
  for (const model::TensorSpec& spec : model::tensor_specs(c)) {
    parameters += spec.numel();
    if (spec.shape.size() == 1) vectors += spec.numel();
  }
  for (int64_t l = 0; l < c.layers; ++l) mixing += c.mixes(l);
  const int64_t expert = (c.squared_relu ? 2 : 3) * c.experts.width * c.width + (c.experts.biases ? 2 * c.experts.width + c.width : 0);
  const int64_t unused = mixing * (c.experts.count - c.experts.chosen) * expert;
  const std::pair<const char*, int64_t> sizes[] = {
      {"vocabulary", c.vocabulary},
      {"width", c.width},
      {"layers", c.layers},
      {"heads", c.heads},
      {"kvHeads", c.kv_heads},
      {"headDim", c.head_dim},
      {"cacheWidth", engine::page_bytes(c, 1, DType::kF32) / dtype_bytes(DType::kF32)},
      {"mlpWidth", c.mlp_width},
      {"maxPositions", c.max_positions},
      {"rotaryWidth", c.rotary_dim() + (c.sliding_theta > 0.0 ? c.sliding_rotary_dim() : 0) + (c.rotated_layers.empty() ? 0 : 2)},
      {"experts", c.experts.count},
      {"expertsPerToken", c.experts.chosen},
      {"expertWidth", c.experts.width},
      {"vectors", vectors},
      {"activeParameters", parameters - unused},
      {"parameters", parameters}};
  Napi::Object out = Napi::Object::New(env);
  for (const auto& [name, value] : sizes) out.Set(name, double(value));
  out.Set("decoder", c.arch);
  out.Set("tiedHead", c.tied_head);
  out.Set("qkNorm", c.qk_norm);
  out.Set("normsAfter", c.norms_after());
  out.Set("addsApart", c.adds_apart());
  return out;
}

}  // namespace

Stream::Backend read_device(const Fields& f) {
  const bool cuda = f.has("device") && f.choice("device", {"cpu", "cuda"}) == 1;
  return cuda ? Stream::Backend::kCuda : Stream::Backend::kCpu;
}

DType read_storage(const Fields& f) {
  return f.choice("weightStorage", {"f32", "bf16"}) == 0 ? DType::kF32 : DType::kBF16;
}

kernels::Arithmetic read_arithmetic(const Fields& f) {
  const bool narrow = f.has("arithmetic") && f.choice("arithmetic", {"f32", "bf16"}) == 1;
  return narrow ? kernels::Arithmetic::kBF16 : kernels::Arithmetic::kF32;
}

model::ModelConfig read_model_config(const Napi::Value& value) {
  return model::parse_hf_config(parse_config_json(to_text(value, "model config"), "model config"), "model config");
}

Napi::Value describe_model(const Napi::CallbackInfo& call) {
  const Napi::Env env = call.Env();
  return translated(env, [&]() -> Napi::Value {
    const std::string where = to_text(call[1], "where");
    model::ConfigReading reading{.strict = call[2].ToBoolean(), .warnings = {}};
    const model::ModelConfig c =
        model::parse_hf_config(parse_config_json(to_text(call[0], "model config"), where.c_str()), where.c_str(), &reading);
    Napi::Array warnings = Napi::Array::New(env, reading.warnings.size());
    for (size_t i = 0; i < reading.warnings.size(); ++i) warnings.Set(uint32_t(i), reading.warnings[i]);
    Napi::Object out = to_js(env, c);
    out.Set("warnings", warnings);
    return out;
  });
}

engine::EngineConfig read_engine_config(const Napi::Value& value) {
  const Fields f(value, "engine");
  engine::EngineConfig c;
  c.max_running = f.integer<int32_t>("maxRunning");
  c.page_tokens = f.integer<int32_t>("pageTokens");
  c.pages = f.integer<int32_t>("pages");
  c.max_context = f.integer<int32_t>("maxContext");
  c.step_tokens = f.integer<int32_t>("stepTokens");
  c.run_seed = f.bigint("runSeed");
  c.device = read_device(f);
  c.graphs = !f.has("graphs") || f.boolean("graphs");
  c.routes = f.has("routes") && f.boolean("routes");
  c.weight_storage = read_storage(f);
  c.arithmetic = read_arithmetic(f);
  c.token_bytes = read_token_bytes(f);
  return c;
}

engine::Request read_request(const Napi::Value& value) {
  const Fields f(value, "request");
  engine::Request r;
  r.id = to_id(f.get("id"), "request.id");
  copy_array(f.get("prompt"), "request.prompt", r.prompt);
  r.count = f.integer<int32_t>("count");
  r.problem = f.integer<uint32_t>("problem");
  r.first_attempt = f.integer<uint32_t>("firstAttempt");
  if (f.has("seeds")) r.seeds = f.bigints("seeds");
  r.sampling = read_sampling(f.fields("sampling"));
  r.max_tokens = f.integer<int32_t>("maxTokens");
  r.stop_ids = f.integers("stopIds");
  r.stop_strings = f.texts("stopStrings");
  r.begun = f.integer_or<int32_t>("begunTokens", 0);
  r.plan = read_plan(f);
  return r;
}

trainer::OptimizerConfig read_optimizer_config(const Napi::Value& value) {
  using Kind = trainer::OptimizerConfig::Kind;
  const Fields f(value, "optimizer");
  trainer::OptimizerConfig c;
  c.kind = f.choice("kind", {"adamw", "muon"}) == 0 ? Kind::kAdamW : Kind::kMuon;
  c.beta1 = float(f.number("beta1"));
  c.beta2 = float(f.number("beta2"));
  c.eps = float(f.number("eps"));
  c.weight_decay = float(f.number("weightDecay"));
  c.decay_all = f.boolean("decayAll");
  c.muon_momentum = float(f.number("muonMomentum"));
  c.gradient_clip = float(f.number("gradientClip"));
  if (f.has("moments") && f.choice("moments", {"f32", "bf16"}) == 1) c.moments = DType::kBF16;
  c.moments_on_host = f.has("memory") && f.choice("memory", {"device", "host"}) == 1;
  if (f.has("seed")) c.seed = f.bigint("seed");
  return c;
}

model::AdapterConfig read_adapters(const Fields& f) {
  return {f.integer<int32_t>("rank"), float(f.number("alpha")), f.texts("targets"), f.bigint("seed")};
}

namespace {

trainer::Sharding read_sharding(const Fields& f) {
  using Stage = trainer::Sharding::Stage;
  constexpr Stage stages[] = {Stage::kOptimizer, Stage::kGradients, Stage::kParameters};
  const Stage stage = stages[f.choice("stage", {"optimizer", "gradients", "parameters"})];
  return {stage, f.has("exact") && f.boolean("exact"), f.has("sequence") ? f.integer<int32_t>("sequence") : 1};
}

}  // namespace

trainer::TrainerConfig read_trainer_config(const Napi::Value& value) {
  const Fields f(value, "trainer");
  trainer::TrainerConfig c;
  c.optimizer = read_optimizer_config(f.get("optimizer"));
  c.packed_tokens = f.integer<int32_t>("packedTokens");
  if (c.packed_tokens < 1) fail(Code::kConfig, "trainer.packedTokens is %lld; it must be at least 1.", (long long)c.packed_tokens);
  if (f.has("headRows")) c.head_rows = f.integer<int32_t>("headRows");
  if (c.head_rows < 1) fail(Code::kConfig, "trainer.headRows is %lld; it must be at least 1.", (long long)c.head_rows);
  c.weight_storage = read_storage(f);
  c.arithmetic = read_arithmetic(f);
  c.device = read_device(f);
  c.deterministic = f.has("deterministic") && f.boolean("deterministic");
  c.recompute = f.has("recompute") && f.boolean("recompute");
  if (f.has("lora")) c.adapters = read_adapters(f.fields("lora"));
  if (f.has("sharding")) c.sharding = read_sharding(f.fields("sharding"));
  return c;
}

namespace {

void read_correction(const Fields& f, trainer::StepOptions& o) {
  o.correction = static_cast<kernels::Correction>(
      f.choice("kind", {"none", "tis", "sequence-tis", "icepop", "sequence-mask", "geometric-mask", "dppo-tv", "dppo-kl"}));
  o.correction_low = float(f.number("low"));
  o.correction_high = float(f.number("high"));
}

trainer::TeacherTerm read_divergence(const Fields& f) {
  return {.coef = float(f.number("coef")),
          .beta = float(f.number("beta")),
          .by_sequence = f.has("bySequence") && f.boolean("bySequence"),
          .rest = f.has("rest") && f.boolean("rest")};
}

}  // namespace

trainer::StepOptions read_step_options(const Napi::Value& value) {
  const Fields f(value, "step");
  trainer::StepOptions o;
  o.objective = static_cast<kernels::Objective>(
      f.choice("objective", {"gspo", "grpo", "dapo", "dr-grpo", "ppo-clip", "cispo", "reinforce-clamped", "reinforce",
                             "gspo-token", "gmpo", "sapo", "custom", "supervised"}));
  o.sequence_weight = static_cast<kernels::SequenceWeight>(f.choice("sequenceWeight", {"uniform", "length"}));
  o.clip_low = float(f.number("clipLow"));
  o.clip_high = float(f.number("clipHigh"));
  if (f.has("dualClip")) o.dual_clip = float(f.number("dualClip"));
  if (f.has("offPolicyMask")) o.off_policy_mask = float(f.number("offPolicyMask"));
  if (f.has("gate")) o.gate_positive = float(f.fields("gate").number("positive")), o.gate_negative = float(f.fields("gate").number("negative"));
  o.kl_coef = float(f.number("klCoef"));
  o.entropy_coef = float(f.number("entropyCoef"));
  if (f.has("klEstimator")) o.kl_estimator = static_cast<kernels::KlEstimator>(f.choice("klEstimator", {"k1", "k2", "k3", "unbiased"}));
  o.temperature = float(f.number("temperature"));
  o.lr = float(f.number("lr"));
  o.muon_lr = float(f.number("muonLr"));
  o.keeps_version = f.has("keepsVersion") && f.boolean("keepsVersion");
  if (f.has("correction")) read_correction(f.fields("correction"), o);
  if (f.has("divergence")) o.divergence = read_divergence(f.fields("divergence"));
  if (f.has("router")) o.router = {.balance_coef = float(f.fields("router").number("balanceCoef")), .z_coef = float(f.fields("router").number("zCoef"))};
  return o;
}

Napi::Object to_js(Napi::Env env, const engine::StepOutput& s) {
  Napi::Object out = Napi::Object::New(env);
  out.Set("request", ids_array(env, s.request));
  out.Set("attempt", new_array<Napi::Int32Array>(env, s.attempt));
  out.Set("token", new_array<Napi::Int32Array>(env, s.token));
  out.Set("logprob", new_array<Napi::Float32Array>(env, s.logprob));
  out.Set("entropy", new_array<Napi::Float32Array>(env, s.entropy));
  out.Set("version", new_array<Napi::Uint32Array>(env, s.version));
  out.Set("oldestKv", new_array<Napi::Uint32Array>(env, s.oldest_kv));
  out.Set("finish", finish_array(env, s.finish));
  if (!s.route_rows.empty()) {
    out.Set("routeRows", new_array<Napi::Int32Array>(env, s.route_rows));
    out.Set("routes", new_array<Napi::Uint8Array>(env, s.routes));
  }
  out.Set("endedRequest", ids_array(env, s.ended_request));
  out.Set("endedAttempt", new_array<Napi::Int32Array>(env, s.ended_attempt));
  out.Set("endedFinish", finish_array(env, s.ended_finish));
  return out;
}

Napi::Object to_js(Napi::Env env, const engine::EngineStats& s) {
  const std::pair<const char*, double> numbers[] = {
      {"steps", double(s.steps)},
      {"prefillTokens", double(s.prefill_tokens)},
      {"decodeTokens", double(s.decode_tokens)},
      {"finished", double(s.finished)},
      {"preemptions", double(s.preemptions)},
      {"weightSwaps", double(s.weight_swaps)},
      {"waiting", double(s.waiting)},
      {"running", double(s.running)},
      {"pagesUsed", double(s.pages_used)},
      {"pagesTotal", double(s.pages_total)},
      {"busySeconds", s.busy_seconds},
      {"prefillSeconds", s.prefill_seconds},
      {"decodeSeconds", s.decode_seconds},
      {"pageSwapSeconds", s.page_swap_seconds},
      {"weightSwapSeconds", s.weight_swap_seconds},
      {"version", double(s.version)}};
  Napi::Object out = Napi::Object::New(env);
  for (const auto& [name, value] : numbers) out.Set(name, value);
  return out;
}

Napi::Object to_js(Napi::Env env, const trainer::StepReport& r) {
  const std::pair<const char*, double> numbers[] = {
      {"loss", r.loss},
      {"policyLoss", r.policy_loss},
      {"routerLoss", r.router_loss},
      {"gradNorm", r.grad_norm},
      {"gradScale", r.grad_scale},
      {"updateNorm", r.update_norm},
      {"weightNorm", r.weight_norm},
      {"nonFiniteSequence", double(r.non_finite_sequence)},
      {"microBatches", double(r.micro_batches)},
      {"trainedTokens", double(r.trained_tokens)},
      {"packedTokens", double(r.packed_tokens)},
      {"forwardSeconds", r.forward_seconds},
      {"backwardSeconds", r.backward_seconds},
      {"optimizerSeconds", r.optimizer_seconds},
      {"packSeconds", r.pack_seconds}};
  Napi::Object out = Napi::Object::New(env);
  for (const auto& [name, value] : numbers) out.Set(name, value);
  out.Set("skipped", r.skipped);
  out.Set("logprobs", new_array<Napi::Float32Array>(env, r.logprobs));
  out.Set("entropies", new_array<Napi::Float32Array>(env, r.entropies));
  out.Set("ratios", new_array<Napi::Float32Array>(env, r.ratios));
  out.Set("clipped", new_array<Napi::Uint8Array>(env, r.clipped));
  out.Set("weights", new_array<Napi::Float32Array>(env, r.weights));
  out.Set("divergences", new_array<Napi::Float32Array>(env, r.divergences));
  out.Set("expertRows", new_array<Napi::Float64Array>(env, r.expert_rows));
  out.Set("givenRoutes", double(r.routes.given));
  out.Set("replacedRoutes", double(r.routes.replaced));
  out.Set("layerGradNorms", new_array<Napi::Float64Array>(env, r.layer_grad_norms));
  return out;
}

}  // namespace hone::addon
