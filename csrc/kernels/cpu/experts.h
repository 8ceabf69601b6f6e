#pragma once

#include "kernels/experts.h"

namespace hone::kernels::cpu {

void route(const Stream& stream, const RouteArgs& args);
void route_grad(const Stream& stream, const RouteGradArgs& args);
void group_rows(const Stream& stream, const GroupRowsArgs& args);
void count_rows(const Stream& stream, const CountRowsArgs& args);
void experts_linear(const Stream& stream, const ExpertsLinearArgs& args);
void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args);
void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args);
void combine_rows(const Stream& stream, const CombineRowsArgs& args);
void weigh_pairs(const Stream& stream, const WeighPairsArgs& args);

}  // namespace hone::kernels::cpu
