#include "kernels/attention.h"

#include "kernels/cpu/attention.h"
#include "kernels/cpu/attention_block.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/matmul.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"

namespace hone::kernels {
namespace {

void expect_heads(const Stream& stream, int64_t heads, int64_t kv_heads, int64_t head_dim, const char* op) {
  if (kv_heads < 1 || heads < 1 || heads % kv_heads) {
    fail(Code::kShape, "%s: %lld query heads do not divide over %lld key heads.", op, (long long)heads,
         (long long)kv_heads);
  }
  const bool cuda = stream.is_cuda();
  const int64_t widest = cuda ? cuda::kMaxHeadDim : cpu::kMaxHeadDim, step = cuda ? 8 : 1;
  if (head_dim < 1 || head_dim > widest || head_dim % step) {
    fail(cuda ? Code::kUnsupported : Code::kShape, "%s: head dim is %lld, the %s kernels take %lld to %lld%s.", op,
         (long long)head_dim, cuda ? "CUDA" : "CPU", (long long)step, (long long)widest,
         cuda ? " in multiples of 8" : "");
  }
  if (cuda && heads / kv_heads > cuda::kMaxHeadGroup) {
    fail(Code::kUnsupported, "%s: %lld query heads share a key head, the CUDA kernels take at most %lld.", op,
         (long long)(heads / kv_heads), (long long)cuda::kMaxHeadGroup);
  }
}

/// Checks a view of queries, keys, values or their gradients. GPU kernels access rows 16 bytes at a time.
void expect_activation(const Stream& stream, const TensorView& view, std::initializer_list<int64_t> dims,
                       const char* op, const char* arg) {
  expect(view, activation_dtype(stream), dims, op, arg);
  if (stream.is_cuda() && (view.row_stride % 8 || reinterpret_cast<uintptr_t>(view.data) % 16)) {
    fail(Code::kShape, "%s: %s has rows %lld elements apart from %p, the CUDA kernels need 16-byte aligned rows.", op,
         arg, (long long)view.row_stride, view.data);
  }
}

void expect_pages(const Stream& stream, const KvPages& pages, const char* op) {
  if (pages.page_tokens < 16 || pages.page_tokens % 16) {
    fail(Code::kShape, "%s: a page has %lld tokens, expected a positive multiple of 16.", op,
         (long long)pages.page_tokens);
  }
  const int64_t count = pages.keys.dim(0), elements = pages.kv_heads * pages.page_tokens * pages.head_dim;
  const bool narrow = stream.is_cuda() || pages.keys.dtype == DType::kBF16;
  const DType dtype = narrow ? DType::kBF16 : DType::kF32;
  expect_contiguous(pages.keys, dtype, {count, elements}, op, "pages.keys");
  expect_contiguous(pages.values, dtype, {count, elements}, op, "pages.values");
}

/// Checks the scratch before the launch, since a failing launch could not report it.
void expect_scratch(const Stream& stream, const Arena* scratch, const char* op) {
  if (stream.is_cuda() && (!scratch || scratch->memory() != Memory::kDevice)) {
    fail(Code::kInternal, "%s: the CUDA kernels need a scratch arena of device memory.", op);
  }
}

void expect_rows(const TensorView& sequence, const TensorView& position, const TensorView& tables, int64_t rows,
                 const char* op) {
  expect_contiguous(sequence, DType::kI32, {rows}, op, "row_sequence");
  expect_contiguous(position, DType::kI32, {rows}, op, "row_position");
  expect(tables, DType::kI32, {tables.dim(0), tables.dim(1)}, op, "block_tables");
}

void expect_prefixes(const AttentionPagedArgs& args, const char* op) {
  if (args.prefix_row.empty() && args.prefix_tokens.empty()) return;
  expect_contiguous(args.prefix_row, DType::kI32, {args.q.dim(0)}, op, "prefix_row");
  expect_contiguous(args.prefix_tokens, DType::kI32, {args.q.dim(0)}, op, "prefix_tokens");
}

void expect_uncapped_scores(const Stream& stream, float softcap, const char* op) {
  if (!stream.is_cuda() || softcap == 0.0f) return;
  fail(Code::kUnsupported, "%s: scores capped at %g; the CUDA kernels do not cap.", op, double(softcap));
}

void expect_sinks(const TensorView& sinks, int64_t heads, const char* op) {
  if (sinks.empty()) return;
  expect_contiguous(sinks, DType::kF32, {heads}, op, "sinks");
}

void expect_place(const Stream& stream, const KvPlace& to, int64_t rows, const char* op) {
  expect_pages(stream, to.pages, op);
  expect_rows(to.row_sequence, to.row_position, to.block_tables, rows, op);
}

TensorView some_heads(TensorView view, int64_t first, int64_t count) {
  view.data = view.as<std::byte>() + first * view.dim(2) * dtype_bytes(view.dtype);
  view.shape[1] = count;
  return view;
}

/// Runs the separate ops in sequence; each checks its own arguments.
void prepare_in_steps(const Stream& stream, const PrepareHeadsArgs& a, int64_t heads, int64_t kv_heads) {
  const TensorView q = some_heads(a.qk, 0, heads), k = some_heads(a.qk, heads, kv_heads);
  const RopeArgs turn{.x = a.qk, .positions = a.positions, .table = a.table, .interleaved = a.interleaved};
  if (a.norm_last) rope(stream, turn);
  if (!a.q_norm.empty()) {
    rms_norm(stream, {.x = q, .weight = a.q_norm, .y = q, .eps = a.eps, .offset = a.norm_offset});
    rms_norm(stream, {.x = k, .weight = a.k_norm, .y = k, .eps = a.eps, .offset = a.norm_offset});
  }
  if (!a.norm_last) rope(stream, turn);
  if (!a.to.pages.keys.empty()) kv_write(stream, {k, a.v, a.to});
}

/// Checks the GPU's requirements for heads to prepare.
void expect_prepared(const Stream& stream, const PrepareHeadsArgs& a, const char* op) {
  const int64_t R = a.qk.dim(0), K = a.v.dim(1), H = a.qk.dim(1) - K, D = a.qk.dim(2), turned = a.table.dim(1);
  expect_activation(stream, a.qk, {R, H + K, D}, op, "qk");
  expect_activation(stream, a.v, {R, K, D}, op, "v");
  expect_heads(stream, H, K, D, op);
  if (a.norm_last) fail(Code::kUnsupported, "%s: norms after the rotation; the CUDA kernels norm before it.", op);
  if (a.q_norm.empty() != a.k_norm.empty()) fail(Code::kInternal, "%s: a norm for q and k, or for neither.", op);
  if (!a.q_norm.empty()) {
    expect_contiguous(a.q_norm, DType::kF32, {D}, op, "q_norm");
    expect_contiguous(a.k_norm, DType::kF32, {D}, op, "k_norm");
  }
  expect_contiguous(a.positions, DType::kI32, {R}, op, "positions");
  expect(a.table, DType::kF32, {a.table.dim(0), turned}, op, "table");
  if (turned % 2 || turned > D) fail(Code::kShape, "%s: the table rotates %lld of %lld dimensions.", op, (long long)turned, (long long)D);
  if (!a.to.pages.keys.empty()) expect_place(stream, a.to, R, op);
}

}  // namespace

void attention_packed(const Stream& stream, const AttentionPackedArgs& args) {
  constexpr const char* op = "attention_packed";
  const int64_t T = args.q.dim(0), H = args.q.dim(1), K = args.k.dim(1), D = args.q.dim(2);
  expect_activation(stream, args.q, {T, H, D}, op, "q");
  expect_activation(stream, args.k, {T, K, D}, op, "k");
  expect_activation(stream, args.v, {T, K, D}, op, "v");
  expect_contiguous(args.cu_seqlens, DType::kI32, {args.cu_seqlens.dim(0)}, op, "cu_seqlens");
  expect_activation(stream, args.out, {T, H, D}, op, "out");
  if (!args.lse.empty()) expect(args.lse, DType::kF32, {T, H}, op, "lse");
  expect_heads(stream, H, K, D, op);
  expect_uncapped_scores(stream, args.softcap, op);
  expect_sinks(args.sinks, H, op);
  if (T == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::attention_packed(stream, args);
  }
  cpu::attention_packed(stream, args);
}

void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& args) {
  constexpr const char* op = "attention_packed_grad";
  const int64_t T = args.q.dim(0), H = args.q.dim(1), K = args.k.dim(1), D = args.q.dim(2);
  expect_activation(stream, args.q, {T, H, D}, op, "q");
  expect_activation(stream, args.k, {T, K, D}, op, "k");
  expect_activation(stream, args.v, {T, K, D}, op, "v");
  expect_contiguous(args.cu_seqlens, DType::kI32, {args.cu_seqlens.dim(0)}, op, "cu_seqlens");
  expect_activation(stream, args.out, {T, H, D}, op, "out");
  expect(args.lse, DType::kF32, {T, H}, op, "lse");
  expect_activation(stream, args.dout, {T, H, D}, op, "dout");
  expect_activation(stream, args.dq, {T, H, D}, op, "dq");
  expect_activation(stream, args.dk, {T, K, D}, op, "dk");
  expect_activation(stream, args.dv, {T, K, D}, op, "dv");
  expect_heads(stream, H, K, D, op);
  expect_scratch(stream, args.scratch, op);
  expect_uncapped_scores(stream, args.softcap, op);
  if (T == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::attention_packed_grad(stream, args);
  }
  cpu::attention_packed_grad(stream, args);
}

int64_t attention_packed_grad_scratch_bytes(const Stream& stream, int64_t tokens, int64_t heads) {
  if (stream.is_cuda()) return cuda::attention_packed_grad_scratch_bytes(tokens, heads);
  return 0;
}

void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& args) {
  constexpr const char* op = "attention_sinks_grad";
  const int64_t T = args.out.dim(0), H = args.out.dim(1), D = args.out.dim(2);
  expect_sinks(args.sinks, H, op);
  expect_activation(stream, args.out, {T, H, D}, op, "out");
  expect_activation(stream, args.dout, {T, H, D}, op, "dout");
  expect(args.lse, DType::kF32, {T, H}, op, "lse");
  expect_contiguous(args.dsinks, DType::kF32, {H}, op, "dsinks");
  if (T == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::attention_sinks_grad(stream, args);
  }
  cpu::attention_sinks_grad(stream, args);
}

void kv_write(const Stream& stream, const KvWriteArgs& args) {
  const KvPlace& to = args.to;
  const int64_t R = args.k.dim(0), K = to.pages.kv_heads, D = to.pages.head_dim;
  expect_activation(stream, args.k, {R, K, D}, "kv_write", "k");
  expect_activation(stream, args.v, {R, K, D}, "kv_write", "v");
  expect_place(stream, to, R, "kv_write");
  expect_heads(stream, K, K, D, "kv_write");
  if (R == 0) return;
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::kv_write(stream, args);
  }
  cpu::kv_write(stream, args);
}

void prepare_heads(const Stream& stream, const PrepareHeadsArgs& args) {
  const int64_t K = args.v.dim(1), H = args.qk.dim(1) - K;
  if (!stream.is_cuda()) return prepare_in_steps(stream, args, H, K);
  expect_prepared(stream, args, "prepare_heads");
  if (args.qk.dim(0) == 0) return;
  if constexpr (kHasCuda) cuda::prepare_heads(stream, args);
}

void linear_heads(const Stream& stream, const LinearHeadsArgs& args) {
  constexpr const char* op = "linear_heads";
  const LinearArgs& p = args.product;
  const PrepareHeadsArgs& a = args.heads;
  const int64_t R = p.y.dim(0), K = a.v.dim(1), all = a.qk.dim(1) + K, D = a.qk.dim(2);
  if (p.accumulate || p.w.n != all * D || a.qk.data != p.y.data || a.qk.row_stride != p.y.row_stride) {
    fail(Code::kShape, "%s: %lld heads of %lld are not the product's %lld columns.", op, (long long)all, (long long)D,
         (long long)p.w.n);
  }
  if constexpr (kHasCuda) {
    if (stream.is_cuda() && cuda::takes_heads(p, a)) {
      expect(p.x, DType::kBF16, {R, p.w.k}, op, "x");
      expect(p.y, DType::kBF16, {R, p.w.n}, op, "y");
      if (!p.bias.empty()) expect_contiguous(p.bias, DType::kF32, {p.w.n}, op, "bias");
      expect_prepared(stream, a, op);
      if (R > 0) cuda::linear_heads(stream, p, a);
      return;
    }
  }
  linear(stream, p);
  prepare_heads(stream, a);
}

PagedList list_attention_paged(const Stream& stream, const AttentionPagedArgs& args, Arena& memory) {
  if (!stream.is_cuda() || args.q.dim(0) == 0) return {};
  constexpr const char* op = "list_attention_paged";
  expect_pages(stream, args.pages, op);
  expect_rows(args.row_sequence, args.row_position, args.block_tables, args.q.dim(0), op);
  expect_prefixes(args, op);
  expect_heads(stream, args.q.dim(1), args.pages.kv_heads, args.pages.head_dim, op);
  expect_scratch(stream, &memory, op);
  if constexpr (kHasCuda) return cuda::list_attention_paged(stream, args, memory);
  return {};
}

void attention_paged(const Stream& stream, const AttentionPagedArgs& args) {
  const int64_t R = args.q.dim(0), H = args.q.dim(1), D = args.pages.head_dim;
  expect_pages(stream, args.pages, "attention_paged");
  expect_activation(stream, args.q, {R, H, D}, "attention_paged", "q");
  expect_activation(stream, args.out, {R, H, D}, "attention_paged", "out");
  expect_rows(args.row_sequence, args.row_position, args.block_tables, R, "attention_paged");
  expect_prefixes(args, "attention_paged");
  expect_heads(stream, H, args.pages.kv_heads, D, "attention_paged");
  expect_uncapped_scores(stream, args.softcap, "attention_paged");
  expect_sinks(args.sinks, H, "attention_paged");
  if (R == 0) return;
  if (stream.is_cuda() && !args.list.memory) fail(Code::kInternal, "attention_paged: no list of what its rows read.");
  if constexpr (kHasCuda) {
    if (stream.is_cuda()) return cuda::attention_paged(stream, args);
  }
  cpu::attention_paged(stream, args);
}

int64_t attention_paged_scratch_bytes(const Stream& stream, int64_t rows, int64_t heads, int64_t kv_heads,
                                      int64_t head_dim, int64_t tokens) {
  if (stream.is_cuda()) return cuda::attention_paged_scratch_bytes(rows, heads, kv_heads, head_dim, tokens);
  return 0;
}

}  // namespace hone::kernels
