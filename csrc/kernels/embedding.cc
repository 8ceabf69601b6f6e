#include "kernels/embedding.h"

#include "kernels/cpu/rows.h"
#include "kernels/cuda/rows.h"

namespace hone::kernels {
namespace {

void expect_ids(const TensorView& ids, int64_t vocabulary, const char* op) {
  const int32_t* id = ids.as<int32_t>();
  for (int64_t t = 0; t < ids.dim(0); ++t) {
    if (id[t] < 0 || id[t] >= vocabulary) {
      fail(Code::kShape, "%s: ids[%lld] is %d, outside the vocabulary [0, %lld).", op, (long long)t, id[t],
           (long long)vocabulary);
    }
  }
}

}  // namespace

void embedding(const Stream& stream, const EmbeddingArgs& args) {
  const int64_t tokens = args.ids.dim(0), vocabulary = args.table.dim(0), width = args.table.dim(1);
  expect_contiguous(args.ids, DType::kI32, {tokens}, "embedding", "ids");
  const bool half = args.table.dtype == DType::kBF16;
  expect(args.table, half ? DType::kBF16 : DType::kF32, {vocabulary, width}, "embedding", "table");
  expect(args.x, activation_dtype(stream), {tokens, width}, "embedding", "x");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return tokens > 0 && width > 0 ? cuda::embedding(stream, args) : void();
  }
  expect_ids(args.ids, vocabulary, "embedding");
  cpu::embedding(stream, args);
}

void packed_embedding(const Stream& stream, const PackedEmbeddingArgs& args) {
  const int64_t tokens = args.ids.dim(0);
  if (stream.is_cuda()) fail(Code::kUnsupported, "packed_embedding runs on the CPU only; on CUDA a packed matrix is a table: call embedding.");
  if (args.w.arithmetic != Arithmetic::kF32) fail(Code::kShape, "packed_embedding: w is packed for products in bf16; it must be packed for f32.");
  expect_contiguous(args.ids, DType::kI32, {tokens}, "packed_embedding", "ids");
  expect(args.x, DType::kF32, {tokens, args.w.k}, "packed_embedding", "x");
  expect_ids(args.ids, args.w.n, "packed_embedding");
  cpu::packed_embedding(stream, args);
}

void embedding_grad(const Stream& stream, const EmbeddingGradArgs& args) {
  const int64_t tokens = args.ids.dim(0), vocabulary = args.dtable.dim(0), width = args.dtable.dim(1);
  expect_contiguous(args.ids, DType::kI32, {tokens}, "embedding_grad", "ids");
  expect(args.dx, activation_dtype(stream), {tokens, width}, "embedding_grad", "dx");
  expect(args.dtable, DType::kF32, {vocabulary, width}, "embedding_grad", "dtable");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return tokens > 0 && width > 0 ? cuda::embedding_grad(stream, args) : void();
  }
  expect_ids(args.ids, vocabulary, "embedding_grad");
  cpu::embedding_grad(stream, args);
}

}  // namespace hone::kernels
