// Auxiliary losses of routers: load balance between experts, and small logits (z-loss).
#pragma once

#include "core/stream.h"
#include "core/tensor.h"

namespace hone::kernels {

/// For the n rows of a sequence: p is a row's softmax of E logits (with sigmoid, the scores divided by their
/// sum), c_e the number of rows that chose e:
///   balance = E sum_e c_e / n  mean_r p_re,   z = mean_r ln^2 sum_e exp(logits_re)
/// balance is k if all experts have the same load. c_e has no gradient. The gradient of balance_coef balance
/// + z_coef z is added to dlogits, and its value to losses. Same bits for any number of threads.
/// Source: Fedus et al., Switch Transformers, equations 4 to 6, with k choices counted as in transformers
/// (load_balancing_loss_func), per sequence as in DeepSeek-V3, equations 17 to 20; Zoph et al., ST-MoE,
/// equation 5.
struct RouterLossArgs {
  TensorView logits;   // [R, E] f32 in
  TensorView experts;  // [R, k] i32 in
  TensorView starts;   // [S+1] i32 in: sequence s has rows starts[s] to starts[s + 1] - 1, possibly none
  TensorView dlogits;  // [R, E] f32 accumulated
  double balance_coef = 0.0, z_coef = 0.0;
  bool sigmoid = false;
  double* losses = nullptr;  // [S] accumulated, in the stream's memory
};
/// On CUDA starts are not checked.
void router_loss(const Stream& stream, const RouterLossArgs& args);

}  // namespace hone::kernels
