#include "kernels/attention.h"

#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_block.h"

namespace hone::kernels {
namespace {

void expect_heads(int64_t heads, int64_t kv_heads, int64_t head_dim, const char* op) {
  if (kv_heads < 1 || heads < 1 || heads % kv_heads) {
    fail(Code::kShape, "%s: %lld query heads do not divide over %lld key heads.", op, (long long)heads,
         (long long)kv_heads);
  }
  if (head_dim < 1 || head_dim > cpu::kMaxHeadDim) {
    fail(Code::kShape, "%s: head dim is %lld, the kernels take 1 to %lld.", op, (long long)head_dim,
         (long long)cpu::kMaxHeadDim);
  }
}

void expect_pages(const KvPages& pages, const char* op) {
  if (pages.page_tokens < 16 || pages.page_tokens % 16) {
    fail(Code::kShape, "%s: a page has %lld tokens, expected a positive multiple of 16.", op,
         (long long)pages.page_tokens);
  }
  const int64_t count = pages.keys.dim(0), elements = pages.kv_heads * pages.page_tokens * pages.head_dim;
  const DType dtype = pages.keys.dtype == DType::kBF16 ? DType::kBF16 : DType::kF32;
  expect_contiguous(pages.keys, dtype, {count, elements}, op, "pages.keys");
  expect_contiguous(pages.values, dtype, {count, elements}, op, "pages.values");
}

void expect_rows(const TensorView& sequence, const TensorView& position, const TensorView& tables, int64_t rows,
                 const char* op) {
  expect_contiguous(sequence, DType::kI32, {rows}, op, "row_sequence");
  expect_contiguous(position, DType::kI32, {rows}, op, "row_position");
  expect(tables, DType::kI32, {tables.dim(0), tables.dim(1)}, op, "block_tables");
}

}  // namespace

void attention_packed(const Stream& stream, const AttentionPackedArgs& args) {
  constexpr const char* op = "attention_packed";
  const int64_t T = args.q.dim(0), H = args.q.dim(1), K = args.k.dim(1), D = args.q.dim(2);
  expect(args.q, DType::kF32, {T, H, D}, op, "q");
  expect(args.k, DType::kF32, {T, K, D}, op, "k");
  expect(args.v, DType::kF32, {T, K, D}, op, "v");
  expect_contiguous(args.cu_seqlens, DType::kI32, {args.cu_seqlens.dim(0)}, op, "cu_seqlens");
  expect(args.out, DType::kF32, {T, H, D}, op, "out");
  if (!args.lse.empty()) expect(args.lse, DType::kF32, {T, H}, op, "lse");
  expect_heads(H, K, D, op);
  if (T > 0) cpu::attention_packed(stream, args);
}

void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& args) {
  constexpr const char* op = "attention_packed_grad";
  const int64_t T = args.q.dim(0), H = args.q.dim(1), K = args.k.dim(1), D = args.q.dim(2);
  expect(args.q, DType::kF32, {T, H, D}, op, "q");
  expect(args.k, DType::kF32, {T, K, D}, op, "k");
  expect(args.v, DType::kF32, {T, K, D}, op, "v");
  expect_contiguous(args.cu_seqlens, DType::kI32, {args.cu_seqlens.dim(0)}, op, "cu_seqlens");
  expect(args.out, DType::kF32, {T, H, D}, op, "out");
  expect(args.lse, DType::kF32, {T, H}, op, "lse");
  expect(args.dout, DType::kF32, {T, H, D}, op, "dout");
  expect(args.dq, DType::kF32, {T, H, D}, op, "dq");
  expect(args.dk, DType::kF32, {T, K, D}, op, "dk");
  expect(args.dv, DType::kF32, {T, K, D}, op, "dv");
  expect_heads(H, K, D, op);
  if (T > 0) cpu::attention_packed_grad(stream, args);
}

void kv_write(const Stream& stream, const KvWriteArgs& args) {
  const int64_t R = args.k.dim(0), K = args.pages.kv_heads, D = args.pages.head_dim;
  expect_pages(args.pages, "kv_write");
  expect(args.k, DType::kF32, {R, K, D}, "kv_write", "k");
  expect(args.v, DType::kF32, {R, K, D}, "kv_write", "v");
  expect_rows(args.row_sequence, args.row_position, args.block_tables, R, "kv_write");
  if (R > 0) cpu::kv_write(stream, args);
}

void attention_paged(const Stream& stream, const AttentionPagedArgs& args) {
  const int64_t R = args.q.dim(0), H = args.q.dim(1), D = args.pages.head_dim;
  expect_pages(args.pages, "attention_paged");
  expect(args.q, DType::kF32, {R, H, D}, "attention_paged", "q");
  expect(args.out, DType::kF32, {R, H, D}, "attention_paged", "out");
  expect_rows(args.row_sequence, args.row_position, args.block_tables, R, "attention_paged");
  expect_heads(H, args.pages.kv_heads, D, "attention_paged");
  if (R > 0) cpu::attention_paged(stream, args);
}

}  // namespace hone::kernels
