#include "kernels/experts.h"

#include <algorithm>

#include "kernels/cpu/experts.h"

namespace hone::kernels {
namespace {

void expect_cpu(const Stream& stream, const char* op) {
  if (stream.is_cuda()) fail(Code::kUnsupported, "%s: mixtures of experts run on the CPU alone; choose device \"cpu\".", op);
}

void expect_routes(const TensorView& experts, const TensorView& weights, int64_t rows, const char* op) {
  const int64_t k = experts.dim(1);
  expect_contiguous(experts, DType::kI32, {rows, k}, op, "experts");
  expect_contiguous(weights, DType::kF32, {rows, k}, op, "weights");
}

}  // namespace

void route(const Stream& stream, const RouteArgs& args) {
  constexpr const char* op = "route";
  expect_cpu(stream, op);
  const int64_t R = args.scores.dim(0), E = args.scores.dim(1), k = args.experts.dim(1);
  expect_contiguous(args.scores, DType::kF32, {R, E}, op, "scores");
  if (!args.correction.empty()) expect_contiguous(args.correction, DType::kF32, {E}, op, "correction");
  expect_routes(args.experts, args.weights, R, op);
  const Routing& how = args.how;
  if (how.groups < 1 || E % how.groups != 0 || how.chosen_groups < 1 || how.chosen_groups > how.groups || k < 1 ||
      k > E / how.groups * how.chosen_groups) {
    fail(Code::kShape, "%s: %lld of %lld experts cannot be chosen in %lld of %lld groups.", op, (long long)k, (long long)E,
         (long long)how.chosen_groups, (long long)how.groups);
  }
  cpu::route(stream, args);
}

void route_grad(const Stream& stream, const RouteGradArgs& args) {
  constexpr const char* op = "route_grad";
  expect_cpu(stream, op);
  const int64_t R = args.scores.dim(0), E = args.scores.dim(1);
  expect_contiguous(args.scores, DType::kF32, {R, E}, op, "scores");
  expect_contiguous(args.dlogits, DType::kF32, {R, E}, op, "dlogits");
  expect_routes(args.experts, args.dweights, R, op);
  cpu::route_grad(stream, args);
}

void group_rows(const GroupRowsArgs& args) {
  constexpr const char* op = "group_rows";
  const int64_t R = args.experts.dim(0), k = args.experts.dim(1), E = args.begins.dim(0) - 1;
  expect_contiguous(args.experts, DType::kI32, {R, k}, op, "experts");
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect_contiguous(args.rows, DType::kI32, {R * k}, op, "rows");
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  const int32_t* const experts = args.experts.as<int32_t>();
  int32_t* const begins = args.begins.as<int32_t>();
  std::fill(begins, begins + E + 1, 0);
  for (int64_t p = 0; p < R * k; ++p) ++begins[experts[p] + 1];
  for (int64_t e = 0; e < E; ++e) begins[e + 1] += begins[e];
  std::vector<int32_t> next(begins, begins + E);
  for (int64_t p = 0; p < R * k; ++p) {
    const int32_t at = next[size_t(experts[p])]++;
    args.pairs.as<int32_t>()[p] = at;
    args.rows.as<int32_t>()[at] = int32_t(p / k);
  }
}

void experts_linear(const Stream& stream, const ExpertsLinearArgs& args) {
  constexpr const char* op = "experts_linear";
  expect_cpu(stream, op);
  const auto E = int64_t(args.w.size());
  const int64_t pairs = args.x.dim(0);
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect(args.x, DType::kF32, {pairs, args.w.front().k}, op, "x");
  expect(args.y, DType::kF32, {pairs, args.w.front().n}, op, "y");
  if (!args.bias.empty()) expect(args.bias, DType::kF32, {E, args.w.front().n}, op, "bias");
  cpu::experts_linear(stream, args);
}

void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args) {
  constexpr const char* op = "experts_grad_weight";
  expect_cpu(stream, op);
  const int64_t pairs = args.x.dim(0), N = args.dy.dim(1), E = args.begins.dim(0) - 1;
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect_contiguous(args.rows, DType::kI32, {pairs}, op, "rows");
  expect(args.dy, DType::kF32, {pairs, N}, op, "dy");
  expect(args.dw, DType::kF32, {E * N, args.x.dim(1)}, op, "dw");
  cpu::experts_grad_weight(stream, args);
}

void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args) {
  constexpr const char* op = "experts_grad_bias";
  expect_cpu(stream, op);
  const int64_t R = args.pairs.dim(0), k = args.pairs.dim(1), N = args.dbias.dim(1);
  expect(args.dy, DType::kF32, {R * k, N}, op, "dy");
  expect_contiguous(args.experts, DType::kI32, {R, k}, op, "experts");
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  if (!args.weights.empty()) expect_contiguous(args.weights, DType::kF32, {R, k}, op, "weights");
  expect(args.dbias, DType::kF32, {args.dbias.dim(0), N}, op, "dbias");
  cpu::experts_grad_bias(stream, args);
}

void combine_rows(const Stream& stream, const CombineRowsArgs& args) {
  constexpr const char* op = "combine_rows";
  expect_cpu(stream, op);
  const int64_t R = args.to.dim(0), C = args.to.dim(1), k = args.pairs.dim(1);
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  if (!args.weights.empty()) expect_contiguous(args.weights, DType::kF32, {R, k}, op, "weights");
  expect(args.from, DType::kF32, {R * k, C}, op, "from");
  expect(args.to, DType::kF32, {R, C}, op, "to");
  cpu::combine_rows(stream, args);
}

void weigh_pairs(const Stream& stream, const WeighPairsArgs& args) {
  constexpr const char* op = "weigh_pairs";
  expect_cpu(stream, op);
  const int64_t R = args.pairs.dim(0), k = args.pairs.dim(1), pairs = R * k, F = args.product.dim(1);
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  expect_contiguous(args.weights, DType::kF32, {R, k}, op, "weights");
  expect_contiguous(args.dweights, DType::kF32, {R, k}, op, "dweights");
  expect(args.dproduct, DType::kF32, {pairs, F}, op, "dproduct");
  expect(args.product, DType::kF32, {pairs, F}, op, "product");
  expect(args.beside, DType::kF32, {pairs, args.beside.dim(1)}, op, "beside");
  if (!args.bias.empty()) {
    expect_contiguous(args.experts, DType::kI32, {R, k}, op, "experts");
    expect(args.doutputs, DType::kF32, {pairs, args.bias.dim(1)}, op, "doutputs");
  }
  cpu::weigh_pairs(stream, args);
}

}  // namespace hone::kernels
