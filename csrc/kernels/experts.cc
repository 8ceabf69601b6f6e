#include "kernels/experts.h"

#include "kernels/cpu/experts.h"
#include "kernels/cuda/experts.h"

namespace hone::kernels {
namespace {

/// Throws kUnsupported if a GPU is given something that only the CPU's kernels take.
void expect_cpu(const Stream& stream, bool given, const char* op, const char* what) {
  if (given && stream.is_cuda()) fail(Code::kUnsupported, "%s: the CUDA kernels take no %s; choose device \"cpu\".", op, what);
}

void expect_routable(const Stream& stream, int64_t experts, const Routing& how, const char* op) {
  if (!stream.is_cuda() || (experts <= kMostCudaExperts && how.groups <= kMostCudaExpertGroups)) return;
  fail(Code::kUnsupported, "%s: %lld experts in %lld groups; the CUDA kernels take at most %lld in %lld. Choose device \"cpu\".", op, (long long)experts,
       (long long)how.groups, (long long)kMostCudaExperts, (long long)kMostCudaExpertGroups);
}

void expect_routes(const TensorView& experts, const TensorView& weights, int64_t rows, const char* op) {
  const int64_t k = experts.dim(1);
  expect_contiguous(experts, DType::kI32, {rows, k}, op, "experts");
  expect_contiguous(weights, DType::kF32, {rows, k}, op, "weights");
}

}  // namespace

void route(const Stream& stream, const RouteArgs& args) {
  constexpr const char* op = "route";
  expect_cpu(stream, args.given, op, "given experts");
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
  expect_routable(stream, E, how, op);
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::route(stream, args);
  }
  cpu::route(stream, args);
}

void route_grad(const Stream& stream, const RouteGradArgs& args) {
  constexpr const char* op = "route_grad";
  const int64_t R = args.scores.dim(0), E = args.scores.dim(1);
  expect_contiguous(args.scores, DType::kF32, {R, E}, op, "scores");
  expect_contiguous(args.dlogits, DType::kF32, {R, E}, op, "dlogits");
  expect_routes(args.experts, args.dweights, R, op);
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::route_grad(stream, args);
  }
  cpu::route_grad(stream, args);
}

void group_rows(const Stream& stream, const GroupRowsArgs& args) {
  constexpr const char* op = "group_rows";
  const int64_t R = args.experts.dim(0), k = args.experts.dim(1), E = args.begins.dim(0) - 1;
  expect_contiguous(args.experts, DType::kI32, {R, k}, op, "experts");
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect_contiguous(args.rows, DType::kI32, {R * k}, op, "rows");
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::group_rows(stream, args);
  }
  cpu::group_rows(stream, args);
}

void count_rows(const Stream& stream, const CountRowsArgs& args) {
  constexpr const char* op = "count_rows";
  const int64_t E = args.counts.dim(0);
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect_contiguous(args.counts, DType::kF64, {E}, op, "counts");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::count_rows(stream, args);
  }
  cpu::count_rows(stream, args);
}

void experts_linear(const Stream& stream, const ExpertsLinearArgs& args) {
  constexpr const char* op = "experts_linear";
  const auto E = int64_t(args.w.size());
  const DType type = activation_dtype(stream);
  const int64_t pairs = args.x.dim(0);
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect(args.x, type, {pairs, args.w.front().k}, op, "x");
  expect(args.y, type, {pairs, args.w.front().n}, op, "y");
  if (!args.bias.empty()) expect_contiguous(args.bias, DType::kF32, {E, args.w.front().n}, op, "bias");
  if (stream.is_cuda() && args.w.front().storage != DType::kBF16) {
    fail(Code::kShape, "%s: w is packed as %s; on CUDA it must be bf16.", op, dtype_name(args.w.front().storage));
  }
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::experts_linear(stream, args);
  }
  cpu::experts_linear(stream, args);
}

void experts_grad_weight(const Stream& stream, const ExpertsGradWeightArgs& args) {
  constexpr const char* op = "experts_grad_weight";
  const int64_t pairs = args.x.dim(0), N = args.dy.dim(1), E = args.begins.dim(0) - 1;
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect_contiguous(args.rows, DType::kI32, {pairs}, op, "rows");
  expect(args.dy, activation_dtype(stream), {pairs, N}, op, "dy");
  expect(args.x, activation_dtype(stream), {pairs, args.x.dim(1)}, op, "x");
  expect(args.dw, DType::kF32, {E * N, args.x.dim(1)}, op, "dw");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::experts_grad_weight(stream, args);
  }
  cpu::experts_grad_weight(stream, args);
}

void experts_grad_bias(const Stream& stream, const ExpertsGradBiasArgs& args) {
  constexpr const char* op = "experts_grad_bias";
  const int64_t R = args.pairs.dim(0), k = args.pairs.dim(1), E = args.dbias.dim(0), N = args.dbias.dim(1);
  expect(args.dy, activation_dtype(stream), {R * k, N}, op, "dy");
  expect_contiguous(args.experts, DType::kI32, {R, k}, op, "experts");
  expect_contiguous(args.begins, DType::kI32, {E + 1}, op, "begins");
  expect_contiguous(args.rows, DType::kI32, {R * k}, op, "rows");
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  if (!args.weights.empty()) expect_contiguous(args.weights, DType::kF32, {R, k}, op, "weights");
  expect_contiguous(args.dbias, DType::kF32, {E, N}, op, "dbias");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::experts_grad_bias(stream, args);
  }
  cpu::experts_grad_bias(stream, args);
}

namespace {

void expect_columns(const Stream& stream, const ExpertColumnsArgs& args, DType rows, const char* op) {
  if (!stream.is_cuda()) fail(Code::kInternal, "%s: only the CUDA kernels turn the columns of experts.", op);
  const int64_t N = args.columns.dim(0), all = args.columns.dim(1);
  expect(args.columns, DType::kF32, {N, all}, op, "columns");
  expect_contiguous(args.rows, rows, {all, N}, op, "rows");
  if (args.experts < 1 || all % args.experts) fail(Code::kShape, "%s: %lld columns do not divide among %lld experts.", op, (long long)all, (long long)args.experts);
}

}  // namespace

void turn_expert_columns(const Stream& stream, const ExpertColumnsArgs& args) {
  expect_columns(stream, args, DType::kBF16, "turn_expert_columns");
  if constexpr (kHasCuda) cuda::turn_expert_columns(stream, args);
}

void add_expert_columns(const Stream& stream, const ExpertColumnsArgs& args) {
  expect_columns(stream, args, DType::kF32, "add_expert_columns");
  if constexpr (kHasCuda) cuda::add_expert_columns(stream, args);
}

void combine_rows(const Stream& stream, const CombineRowsArgs& args) {
  constexpr const char* op = "combine_rows";
  const DType type = activation_dtype(stream);
  const int64_t R = args.to.dim(0), C = args.to.dim(1), k = args.pairs.dim(1);
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  if (!args.weights.empty()) expect_contiguous(args.weights, DType::kF32, {R, k}, op, "weights");
  expect(args.from, type, {R * k, C}, op, "from");
  expect(args.to, type, {R, C}, op, "to");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::combine_rows(stream, args);
  }
  cpu::combine_rows(stream, args);
}

void weigh_pairs(const Stream& stream, const WeighPairsArgs& args) {
  constexpr const char* op = "weigh_pairs";
  const DType type = activation_dtype(stream);
  const int64_t R = args.pairs.dim(0), k = args.pairs.dim(1), pairs = R * k, F = args.product.dim(1);
  expect_contiguous(args.pairs, DType::kI32, {R, k}, op, "pairs");
  expect_contiguous(args.weights, DType::kF32, {R, k}, op, "weights");
  expect_contiguous(args.dweights, DType::kF32, {R, k}, op, "dweights");
  expect(args.dproduct, type, {pairs, F}, op, "dproduct");
  expect(args.product, type, {pairs, F}, op, "product");
  expect(args.beside, type, {pairs, args.beside.dim(1)}, op, "beside");
  if (!args.bias.empty()) {
    expect_contiguous(args.experts, DType::kI32, {R, k}, op, "experts");
    expect_contiguous(args.bias, DType::kF32, {args.bias.dim(0), args.bias.dim(1)}, op, "bias");
    expect(args.doutputs, type, {pairs, args.bias.dim(1)}, op, "doutputs");
  }
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::weigh_pairs(stream, args);
  }
  cpu::weigh_pairs(stream, args);
}

}  // namespace hone::kernels
