// Attention on a GPU: forward and backward in TFLOP/s of causal work (masked products are not counted); decode as a
// share of the time to read the cache at the copy bandwidth of the same run, with shared prefixes read once. Uses wgmma
// where available, mma.sync with HONE_CUDA_PORTABLE=1. `--json` prints lines of JSON, a word selects rows by name,
// `--smoke` takes small shapes.
#include "kernels/attention.h"

#include <cmath>
#include <numeric>
#include <random>

#include "attention_reference.h"
#include "kernels/cuda/attention.h"
#include "report.h"

using namespace hone;
using namespace hone::kernels;
using bench::integers;

namespace {

struct Heads {
  const char* name;
  int64_t heads, kv_heads, head_dim;
};
const Heads kHeads[] = {{"H32/8 D128", 32, 8, 128}, {"H16/8 D128", 16, 8, 128}};
const Heads kSmoke[] = {{"H4/2 D64", 4, 2, 64}};

std::string label(const char* op, const Heads& h, int64_t count, int64_t length) {
  char text[128];
  std::snprintf(text, sizeof text, "%s %s, %lldx%lld", op, h.name, (long long)count, (long long)length);
  return text;
}

TensorView numbers(const Stream& stream, Arena& memory, std::initializer_list<int64_t> dims) {
  return bench::numbers(stream, memory, DType::kBF16, dims);
}

/// As a share of the largest value. Both sides round weights and results to bf16, and the kernels round in each tile of
/// 64 keys.
constexpr double kMostError = 0.02;

/// Downloads the rows of `view` in bf16.
std::vector<uint16_t> downloaded(const Stream& stream, const TensorView& view) {
  std::vector<uint16_t> bits(size_t(view.numel()));
  download(stream, bits.data(), view.data, int64_t(bits.size()) * 2);
  return bits;
}

/// The largest error of random rows [head_dim] of `view` [tokens, heads, head_dim] against `expected(token, head)`.
template <class Expected>
double error_of(const Stream& stream, const TensorView& view, int64_t count, const Expected& expected) {
  const std::vector<uint16_t> bits = downloaded(stream, view);
  const int64_t heads = view.shape[1], dim = view.shape[2];
  bench::Difference difference;
  for (const int64_t at : bench::random_indices(view.shape[0] * heads, count)) {
    const std::vector<double> row = expected(at / heads, at % heads);
    for (int64_t d = 0; d < dim; ++d) difference.add(double(bf16_to_f32(bits[size_t(at * dim + d)])), row[size_t(d)]);
  }
  return difference.share();
}

/// T tokens as T / length sequences. The backward's rate counts five products, however many it computes.
void packed(bench::Report& report, const Heads& h, int64_t tokens, int64_t length) {
  const int64_t T = tokens, H = h.heads, K = h.kv_heads, D = h.head_dim, S = T / length;
  const bool wgmma = kernels::cuda::attention_uses_wgmma(D, false);
  const std::string way = wgmma ? ", wgmma" : ", mma.sync";
  const std::string forward = label("packed forward", h, S, length) + way;
  const std::string backward = label("packed backward", h, S, length) + way;
  if (!report.wants(forward) && !report.wants(backward)) return;
  const Stream& stream = report.stream;
  const int64_t scratch_bytes = attention_packed_grad_scratch_bytes(stream, T, H);
  Arena memory(T * (4 * H + 4 * K) * D * 2 + T * H * 4 + scratch_bytes + (S + 1) * 4 + 4096, "bench", Memory::kDevice);
  std::vector<int32_t> starts;
  for (int64_t s = 0; s <= S; ++s) starts.push_back(int32_t(s * length));
  const TensorView cu = integers(stream, memory, starts, {S + 1});
  const TensorView q = numbers(stream, memory, {T, H, D}), k = numbers(stream, memory, {T, K, D});
  const TensorView v = numbers(stream, memory, {T, K, D}), dout = numbers(stream, memory, {T, H, D});
  const TensorView out = memory.take_view(DType::kBF16, {T, H, D}), dq = memory.take_view(DType::kBF16, {T, H, D});
  const TensorView dk = memory.take_view(DType::kBF16, {T, K, D}), dv = memory.take_view(DType::kBF16, {T, K, D});
  const TensorView lse = memory.take_view(DType::kF32, {T, H});
  const float scale = 1.0f / std::sqrt(float(D));
  const double pairs = double(S) * double(length) * double(length + 1) / 2 * double(H * D);
  const auto call = [&](int) { attention_packed(stream, {q, k, v, cu, out, lse, scale, 0}); };
  const auto grad = [&](int) {
    attention_packed_grad(stream, {q, k, v, cu, out, lse, dout, dq, dk, dv, scale, 0, &memory});
  };
  call(0);
  grad(0);
  const bench::AttentionReference reference(H, K, D, length);
  const double out_error = error_of(stream, out, 16, [&](int64_t t, int64_t head) { return reference.query(t, head).out; });
  std::vector<float> sums(size_t(T * H));
  download(stream, sums.data(), lse.data, T * H * 4);
  const std::vector<uint16_t> outputs = downloaded(stream, out);
  const auto key = [&](int64_t t, int64_t head) { return reference.key(t, head, sums, outputs); };
  double grad_error = 0;
  for (const double error :
       {error_of(stream, dq, 8, [&](int64_t t, int64_t head) { return reference.query(t, head).dq; }),
        error_of(stream, dk, 4, [&](int64_t t, int64_t head) { return key(t, head).dk; }),
        error_of(stream, dv, 4, [&](int64_t t, int64_t head) { return key(t, head).dv; })}) {
    if (!(error <= grad_error) && !std::isnan(grad_error)) grad_error = error;
  }
  report.add({.name = forward, .flops = 4 * pairs, .target_teraflops = wgmma ? 560.0 : 300.0, .error = out_error,
              .most_error = kMostError},
             call);
  report.add({.name = backward, .flops = 10 * pairs, .target_teraflops = wgmma ? 420.0 : 180.0, .error = grad_error,
              .most_error = kMostError},
             grad);
}

constexpr int64_t kGroup = 8;

/// `batch` sequences of `length` tokens in pages of 64, with `rows` new tokens each (1: decode). Every eight of them
/// share the pages of `prefix` tokens.
void paged(bench::Report& report, const Heads& h, int64_t batch, int64_t length, int64_t rows, int64_t prefix = 0) {
  std::string name = label(rows == 1 ? "decode" : "prefill in pieces", h, batch, length);
  if (prefix > 0) name += ", 8 share " + std::to_string(prefix);
  if (!report.wants(name)) return;
  const Stream& stream = report.stream;
  const int64_t W = 64, M = (length + W - 1) / W, R = batch * rows, H = h.heads, K = h.kv_heads, D = h.head_dim;
  const int64_t scratch_bytes = attention_paged_scratch_bytes(stream, R, H, K, D, M * W);
  Arena memory(2 * batch * M * K * W * D * 2 + 2 * R * H * D * 2 + (batch * M + 4 * R) * 4 + scratch_bytes + 4096,
               "bench", Memory::kDevice);
  std::vector<int32_t> tables(size_t(batch * M)), sequence, position;
  std::iota(tables.begin(), tables.end(), 0);
  std::shuffle(tables.begin(), tables.end(), std::mt19937(1));
  const std::vector<int32_t> shared = std::vector<int32_t>(size_t(R), int32_t(prefix));
  std::vector<int32_t> run;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t first = prefix > 0 ? b / kGroup * kGroup : b;
    std::copy_n(tables.begin() + first * M, prefix / W, tables.begin() + b * M);
    run.push_back(int32_t(first));
    for (int64_t i = 0; i < rows; ++i) {
      sequence.push_back(int32_t(b));
      position.push_back(int32_t(length - rows + i));
    }
  }
  const TensorView table = integers(stream, memory, tables, {batch, M});
  const TensorView who = integers(stream, memory, sequence, {R}), where = integers(stream, memory, position, {R});
  const KvPages pages{numbers(stream, memory, {batch * M, K * W * D}), numbers(stream, memory, {batch * M, K * W * D}),
                      K, W, D};
  const TensorView q = numbers(stream, memory, {R, H, D}), out = memory.take_view(DType::kBF16, {R, H, D});
  double pairs = 0;
  for (const int32_t p : position) pairs += double(p + 1) * double(H * D);
  const int64_t keys = batch * length - (batch - batch / kGroup) * prefix;
  const double bytes = rows == 1 ? 2.0 * 2 * double(keys * K * D) : 0;
  AttentionPagedArgs args{q, who, where, table, pages, out, 1.0f / std::sqrt(float(D))};
  if (prefix > 0) args.prefix_row = integers(stream, memory, run, {R});
  if (prefix > 0) args.prefix_tokens = integers(stream, memory, shared, {R});
  args.list = list_attention_paged(stream, args, memory);  // a step does this once for all layers
  report.add({.name = name, .flops = 4 * pairs, .bytes = bytes, .target_of_floor = rows > 1 ? 0.0 : batch < 8 ? 0.6 : 0.8},
             [&](int) { attention_paged(stream, args); });
}

}  // namespace

int main(int argc, char** argv) {
  return bench::run("attention", bench::parse_options(argc, argv), [](bench::Report& report) {
    const auto tried = [&](const Heads& h, const auto& work) { report.tried(h.name, work); };
    if (report.smoke()) {
      packed(report, kSmoke[0], 1024, 512);
      paged(report, kSmoke[0], 4, 600, 1);
      paged(report, kSmoke[0], 8, 600, 1, 512);
      paged(report, kSmoke[0], 1, 300, 60);
      return;
    }
    for (const Heads& h : kHeads) {
      for (const int64_t length : {512, 2048, 8192, 16384}) tried(h, [&] { packed(report, h, 16384, length); });
      for (const int64_t batch : {1, 8, 64, 256}) tried(h, [&] { paged(report, h, batch, 2048, 1); });
      for (const int64_t batch : {8, 64}) tried(h, [&] { paged(report, h, batch, 8192, 1); });
      for (const int64_t prefix : {448, 1024}) tried(h, [&] { paged(report, h, 64, 2048, 1, prefix); });
      tried(h, [&] { paged(report, h, 64, 8192, 1, 4096); });
      tried(h, [&] { paged(report, h, 1, 8192, 2048); });
    }
  });
}
