// Terms of a loss about routers: rows to all experts alike, and small logits. On the CPU alone.
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// Of a sequence's n rows, p a row's softmax of E logits (of sigmoid scores: those over their sum), c_e how many rows chose e:
///   balance = E sum_e c_e / n  mean_r p_re,   z = mean_r ln^2 sum_e exp(logits_re)
/// k where all experts are alike. c_e has no gradient. The gradient of balance_coef balance + z_coef z is added to dlogits, the
/// term itself to losses. Same bits for any number of threads.
/// Source: Fedus et al., Switch Transformers, equations 4 to 6, with k choices as transformers counts them
/// (load_balancing_loss_func), for each sequence as in DeepSeek-V3, equations 17 to 20; Zoph et al., ST-MoE, equation 5.
struct RouterLossArgs {
  TensorView logits;   // [R, E] f32 in
  TensorView experts;  // [R, k] i32 in
  TensorView starts;   // [S+1] i32 in: sequence s has the rows from starts[s] to starts[s + 1], which may be none
  TensorView dlogits;  // [R, E] f32 accumulated
  double balance_coef = 0.0, z_coef = 0.0;
  bool sigmoid = false;
  double* losses = nullptr;  // [S] accumulated
};
/// Throws kUnsupported on a GPU.
void router_loss(const Stream& stream, const RouterLossArgs& args);

}  // namespace hone::kernels
