// The policy loss on a GPU: a thread block per sequence reads the sequence's tokens once for the ratio and
// once more to write coefficients.
#include "kernels/cuda/policy_loss.h"

#include "core/cuda/launch.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/policy_loss_terms.h"

namespace hone::kernels::cuda {
namespace {

constexpr int kThreads = 256;

__global__ void __launch_bounds__(kThreads, 1) policy_loss_kernel(PolicyTokens p) {
  __shared__ double sums[32];
  const int64_t i = blockIdx.x, begin = p.starts[i], end = p.starts[i + 1];
  double log_ratio_sum = 0.0, log_gap_sum = 0.0, counted = 0.0;
  for (int64_t t = begin + threadIdx.x; t < end; t += kThreads) {
    if (!p.mask[t]) {
      clear_token(p, t);
      continue;
    }
    log_ratio_sum += p.averaged_log_ratio(i, t);
    if (p.corrected()) log_gap_sum += p.log_gap(t);
    counted += 1.0;
  }
  log_ratio_sum = block_sum(log_ratio_sum, sums);
  if (p.corrected()) log_gap_sum = block_sum(log_gap_sum, sums);
  counted = block_sum(counted, sums);
  if (counted == 0.0) {
    if (threadIdx.x == 0) p.losses[i] = 0.0;
    return;
  }
  const PolicySequence sequence = policy_sequence(p, i, int64_t(counted), log_ratio_sum, log_gap_sum);
  double loss = 0.0;
  for (int64_t t = begin + threadIdx.x; t < end; t += kThreads) {
    if (p.mask[t]) loss += write_token(p, sequence, i, t);
  }
  loss = block_sum(loss, sums);
  if (threadIdx.x == 0) p.losses[i] = sequence.loss + loss;
}

}  // namespace

void policy_loss(const Stream& stream, const PolicyLossArgs& args) {
  HONE_LAUNCH(policy_loss_kernel, dim3(unsigned(args.sequence_losses.dim(0))), dim3(kThreads), 0, stream,
              policy_tokens(args));
}

}  // namespace hone::kernels::cuda
