// The CUDA backend of kernels/experts.h and kernels/router_loss.h: shapes and dtypes are already checked.
#pragma once

#include "kernels/experts.h"
#include "kernels/router_loss.h"

namespace hone::kernels::cuda {

void route(const Stream& stream, const RouteArgs& args);
void route_grad(const Stream& stream, const RouteGradArgs& args);
void router_loss(const Stream& stream, const RouterLossArgs& args);
void group_rows(const Stream& stream, const GroupRowsArgs& args);
void count_rows(const Stream& stream, const CountRowsArgs& args);
void experts_linear(const Stream& stream, const ExpertsLinearArgs& args);
void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args);
void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args);
void turn_expert_columns(const Stream& stream, const ExpertColumnsArgs& args);
void add_expert_columns(const Stream& stream, const ExpertColumnsArgs& args);
void combine_rows(const Stream& stream, const CombineRowsArgs& args);
void weigh_pairs(const Stream& stream, const WeighPairsArgs& args);

}  // namespace hone::kernels::cuda
