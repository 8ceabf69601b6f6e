#include "kernels/policy_loss.h"

#include "kernels/cpu/policy_loss.h"
#include "kernels/cuda/policy_loss.h"

namespace hone::kernels {
namespace {

constexpr const char* kOp = "policy_loss";

void expect_optional(const TensorView& view, DType dtype, int64_t n, bool wanted, const char* arg) {
  if (wanted || !view.empty()) expect_contiguous(view, dtype, {n}, kOp, arg);
}

void expect_inputs(const PolicyLossArgs& args, int64_t tokens, int64_t sequences) {
  const bool supervised = args.objective == Objective::kSupervised;
  expect_contiguous(args.logprobs, DType::kF32, {tokens}, kOp, "logprobs");
  expect_contiguous(args.mask, DType::kU8, {tokens}, kOp, "mask");
  expect_contiguous(args.cu_seqlens, DType::kI32, {sequences + 1}, kOp, "cu_seqlens");
  expect_optional(args.behavior_logprobs, DType::kF32, tokens, !supervised, "behavior_logprobs");
  const bool corrected = args.correction != Correction::kNone;
  if (corrected && supervised) fail(Code::kConfig, "policy_loss: a correction is given, but the supervised objective has no behavior to correct.");
  const bool custom = args.objective == Objective::kCustom;
  if (corrected && custom) fail(Code::kConfig, "policy_loss: a correction is given, but a custom objective is asked for its slopes as they are.");
  expect_optional(args.custom_slopes, DType::kF64, tokens, custom, "custom_slopes");
  expect_optional(args.custom_losses, DType::kF64, sequences, custom, "custom_losses");
  expect_optional(args.proximal_logprobs, DType::kF32, tokens, corrected, "proximal_logprobs");
  expect_optional(args.weights, DType::kF32, tokens, corrected, "weights");
  expect_optional(args.reference_logprobs, DType::kF32, tokens, args.kl_coef != 0.0f, "reference_logprobs");
  expect_optional(args.entropies, DType::kF32, tokens, args.entropy_coef != 0.0f, "entropies");
  const bool per_token = args.objective == Objective::kPpoClip;
  expect_optional(args.advantages, DType::kF32, sequences, !supervised && !per_token, "advantages");
  expect_optional(args.token_advantages, DType::kF32, tokens, per_token, "token_advantages");
  expect_optional(args.token_weights, DType::kF32, tokens, false, "token_weights");
  expect_optional(args.token_penalties, DType::kF32, tokens, false, "token_penalties");
  if (custom && !(args.token_weights.empty() && args.token_penalties.empty())) fail(Code::kConfig, "policy_loss: tokens are given weights or penalties, but a custom objective is asked for its slopes as they are.");
  expect_optional(args.group_sizes, DType::kI32, sequences, args.objective == Objective::kGrpo, "group_sizes");
}

}  // namespace

void policy_loss(const Stream& stream, const PolicyLossArgs& args) {
  const int64_t tokens = args.logprobs.dim(0), sequences = args.sequence_losses.dim(0);
  expect_inputs(args, tokens, sequences);
  expect_contiguous(args.a, DType::kF32, {tokens}, kOp, "a");
  expect_contiguous(args.b, DType::kF32, {tokens}, kOp, "b");
  expect_contiguous(args.ratios, DType::kF32, {tokens}, kOp, "ratios");
  expect_contiguous(args.clipped, DType::kU8, {tokens}, kOp, "clipped");
  expect_contiguous(args.sequence_losses, DType::kF64, {sequences}, kOp, "sequence_losses");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::policy_loss(stream, args);
  }
  cpu::policy_loss(args);
}

}  // namespace hone::kernels
