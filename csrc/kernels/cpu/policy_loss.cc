#include "kernels/cpu/policy_loss.h"

#include "kernels/policy_loss_terms.h"

namespace hone::kernels::cpu {
namespace {

/// Loss of sequence i, whose tokens are [begin, end); writes all per-token outputs.
double sequence_loss(const PolicyTokens& p, int64_t i, int64_t begin, int64_t end) {
  int64_t n = 0;
  double log_ratio_sum = 0, log_gap_sum = 0;
  for (int64_t t = begin; t < end; ++t) {
    if (!p.mask[t]) {
      clear_token(p, t);
      continue;
    }
    log_ratio_sum += p.averaged_log_ratio(i, t);
    if (p.corrected()) log_gap_sum += p.log_gap(t);
    ++n;
  }
  if (n == 0) return 0.0;
  const PolicySequence sequence = policy_sequence(p, i, n, log_ratio_sum, log_gap_sum);
  double loss = sequence.loss;
  for (int64_t t = begin; t < end; ++t) {
    if (p.mask[t]) loss += write_token(p, sequence, i, t);
  }
  return loss;
}

}  // namespace

void policy_loss(const PolicyLossArgs& args) {
  const PolicyTokens p = policy_tokens(args);
  for (int64_t i = 0; i < args.sequence_losses.dim(0); ++i) {
    p.losses[i] = sequence_loss(p, i, p.starts[i], p.starts[i + 1]);
  }
}

}  // namespace hone::kernels::cpu
