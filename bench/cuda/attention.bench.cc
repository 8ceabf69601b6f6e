// Attention on a GPU: forward and backward in TFLOP/s of causal work (the products a mask removes are not counted),
// decode as a share of the time that reading the cache takes at the copy bandwidth of the same run, what a group shares
// once. `--json` prints
// one JSON object, a word selects rows by name, `--smoke` takes small shapes.
#include "kernels/attention.h"

#include <cmath>
#include <numeric>
#include <random>

#include "../options.h"
#include "kernels/cuda/attention.h"
#include "kernels/cuda/matmul.h"
#include "report.h"

using namespace hone;
using namespace hone::kernels;

namespace {

struct Heads {
  const char* name;
  int64_t heads, kv_heads, head_dim;
};
const Heads kHeads[] = {{"H32/8 D128", 32, 8, 128}, {"H16/8 D128", 16, 8, 128}};
const Heads kSmoke[] = {{"H4/2 D64", 4, 2, 64}};

/// Values of about one, never equal: a tensor core that multiplies zeros draws less power and runs faster.
void fill(const Stream& stream, const TensorView& view) {
  std::vector<uint16_t> bits(size_t(view.numel()));
  std::mt19937 random(7);
  for (uint16_t& x : bits) x = f32_to_bf16(float(random() >> 8) * 0x1p-23f - 1.0f);
  upload(stream, view.data, bits.data(), view.numel() * 2);
}

TensorView numbers(const Stream& stream, Arena& memory, std::initializer_list<int64_t> dims) {
  const TensorView view = memory.take_view(DType::kBF16, dims);
  fill(stream, view);
  return view;
}
TensorView integers(const Stream& stream, Arena& memory, const std::vector<int32_t>& values,
                    std::initializer_list<int64_t> dims) {
  const TensorView view = memory.take_view(DType::kI32, dims);
  upload(stream, view.data, values.data(), int64_t(values.size()) * 4);
  return view;
}

std::string label(const char* op, const Heads& h, int64_t count, int64_t length) {
  char text[128];
  std::snprintf(text, sizeof text, "%s %s, %lldx%lld", op, h.name, (long long)count, (long long)length);
  return text;
}

/// T tokens as T / length sequences, by each kernel. The backward's rate counts five products, whatever it does.
void packed(bench::Report& report, const Heads& h, int64_t tokens, int64_t length) {
  const std::string forward = label("packed forward", h, tokens / length, length);
  const std::string backward = label("packed backward", h, tokens / length, length);
  if (!report.wants(forward + ", mma.sync; " + backward + ", wgmma")) return;
  const Stream& stream = report.stream;
  const int64_t T = tokens, H = h.heads, K = h.kv_heads, D = h.head_dim, S = T / length;
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
  attention_packed(stream, {q, k, v, cu, out, lse, scale, 0});  // what the backward reads
  for (const bool portable : {true, false}) {
    kernels::cuda::force_portable(portable);
    if (!portable && !kernels::cuda::attention_uses_wgmma(D, false)) continue;
    const char* const way = portable ? ", mma.sync" : ", wgmma";
    report.add(forward + way, 4 * pairs, 0, [&] { attention_packed(stream, {q, k, v, cu, out, lse, scale, 0}); },
               portable ? 300 : 560);
    report.add(backward + way, 10 * pairs, 0, [&] {
      attention_packed_grad(stream, {q, k, v, cu, out, lse, dout, dq, dk, dv, scale, 0, &memory});
    }, portable ? 180 : 420);
  }
}

constexpr int64_t kGroup = 8;

/// `batch` sequences of `length` tokens in pages of 64, `rows` new ones each (1: decode). Every eight of them have the
/// pages of `prefix` tokens in common.
void paged(bench::Report& report, const Heads& h, int64_t batch, int64_t length, int64_t rows, int64_t prefix = 0) {
  std::string name = label(rows == 1 ? "decode" : "prefill in pieces", h, batch, length);
  if (prefix > 0) name += ", 8 share " + std::to_string(prefix);
  if (!report.wants(name)) return;
  const Stream& stream = report.stream;
  const int64_t W = 64, M = (length + W - 1) / W, R = batch * rows, H = h.heads, K = h.kv_heads, D = h.head_dim;
  const int64_t scratch_bytes = attention_paged_scratch_bytes(stream, R, H, D, M * W);
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
  AttentionPagedArgs args{q, who, where, table, pages, out, 1.0f / std::sqrt(float(D)), 0, &memory};
  if (prefix > 0) args.prefix_row = integers(stream, memory, run, {R});
  if (prefix > 0) args.prefix_tokens = integers(stream, memory, shared, {R});
  report.add(name, 4 * pairs, bytes, [&] { attention_paged(stream, args); });
}

}  // namespace

int main(int argc, char** argv) {
  const auto [json, smoke, filter] = bench::parse_options(argc, argv);
  try {
    const Device device(Stream::Backend::kCuda, nullptr);
    bench::Report report(device.stream(), json, filter);
    if (smoke) {
      packed(report, kSmoke[0], 1024, 512);
      paged(report, kSmoke[0], 4, 600, 1);
      paged(report, kSmoke[0], 8, 600, 1, 512);
    }
    for (const Heads& h : kHeads) {
      if (smoke) continue;
      for (const int64_t length : {512, 2048, 8192, 16384}) packed(report, h, 16384, length);
      for (const int64_t batch : {1, 8, 64, 256}) paged(report, h, batch, 2048, 1);
      for (const int64_t batch : {8, 64}) paged(report, h, batch, 8192, 1);
      for (const int64_t prefix : {448, 1024}) paged(report, h, 64, 2048, 1, prefix);
      paged(report, h, 64, 8192, 1, 4096);
      paged(report, h, 1, 8192, 2048);
    }
    report.print();
  } catch (const Error& e) {
    std::fprintf(stderr, "%s: %s\n", code_name(e.code()), e.what());
    return 1;
  }
}
