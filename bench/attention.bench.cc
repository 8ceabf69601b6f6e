// Measures attention and the output head as a share of the FMA peak of the same run, and row-wise ops in nanoseconds
// per row. `--json` prints one JSON object, `--smoke` repeats less (CI), another word selects rows by name.
#include <cstdio>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "core/arena.h"
#include "core/json.h"
#include "kernels/attention.h"
#include "kernels/embedding.h"
#include "kernels/lm_head.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"
#include "kernels/swiglu.h"
#include "options.h"
#include "peak.h"

using namespace hone;
using namespace hone::kernels;

namespace {

std::vector<float> numbers(int64_t n) {
  std::vector<float> out(static_cast<size_t>(n));
  uint32_t state = 1;
  for (float& x : out) {
    state = state * 1664525u + 1013904223u;
    x = float(state >> 8) * 0x1p-24f - 0.5f;
  }
  return out;
}

constexpr double kSecondsPerRow = 10;  // slower rows are repeated less often

class Report {
 public:
  Report(const Stream& on, bool as_json, bool smoke, const char* only)
      : stream(on), json_(as_json), repeats_(smoke ? 1 : 40), filter_(only), peak_(bench::peak_gflops(on, repeats_)) {
    if (!json_) std::printf("FMA peak, %s, %d thread(s): %.0f GFLOP/s\n", cpu::isa_name(cpu::isa()), threads(), peak_);
  }
  /// With flops = 0 only the time per row is reported.
  void add(const std::string& what, double flops, int64_t rows, double floor, const std::function<void()>& f) {
    std::string name = what;
    if (threads() > 1) name.append(", 2 threads");
    if (!std::strstr(name.c_str(), filter_)) return;
    const auto once = std::chrono::steady_clock::now();
    f();
    const int inner = int(std::clamp(2e-4 / bench::seconds_since(once), 1.0, 1000.0));
    const int repeats = std::clamp(int(kSecondsPerRow / bench::seconds_since(once)), std::min(3, repeats_), repeats_);
    const double seconds = bench::best_seconds(repeats, [&] { for (int i = 0; i < inner; ++i) f(); }) / inner;
    const double gflops = flops / seconds * 1e-9;
    Json row = Json::object();
    row.set("name", Json::string(name));
    row.set("microseconds", Json::number(seconds * 1e6));
    row.set("nanosecondsPerRow", Json::number(seconds * 1e9 / double(rows)));
    if (flops > 0) {
      row.set("fractionOfPeak", Json::number(gflops / peak_));
      row.set("aim", Json::number(floor));
    }
    rows_.push(std::move(row));
    if (json_) return;
    std::printf("%-58s %9.1f us %8.1f ns/row", name.c_str(), seconds * 1e6, seconds * 1e9 / double(rows));
    if (flops > 0) std::printf(" %6.0f GFLOP/s %5.1f %% (bar %2.0f)", gflops, 100 * gflops / peak_, 100 * floor);
    std::printf("\n");
  }
  int threads() const { return stream.threads(); }
  double peak() const { return peak_; }
  const Json& rows() const { return rows_; }

  const Stream& stream;

 private:
  bool json_;
  int repeats_;
  const char* filter_;
  double peak_;
  Json rows_ = Json::array();
};

struct Shape {
  const char* name;
  int64_t sequences, length, heads, kv_heads, head_dim;
  double forward_floor, backward_floor, decode_floor;
};
const Shape kShapes[] = {
    {"quickstart d96", 110, 37, 4, 4, 24, 0.15, 0.2, 0.1},
    {"d128", 32, 128, 4, 4, 32, 0.3, 0.35, 0.15},
    {"d256", 32, 128, 8, 4, 32, 0.3, 0.35, 0.2},
    {"d512", 32, 256, 8, 8, 64, 0.4, 0.45, 0.2},
    {"gqa 128", 4, 1024, 8, 2, 128, 0.6, 0.6, 0.4},
    {"1K", 1, 1024, 4, 2, 128, 0.6, 0.6, 0.4},
    {"4K", 1, 4096, 2, 1, 128, 0.6, 0.6, 0.4},
    {"16K", 1, 16384, 1, 1, 128, 0.6, 0.6, 0.4},
};

std::string shape_text(int64_t rows, int64_t width, int64_t vocabulary = 0) {
  char text[64];
  if (vocabulary) std::snprintf(text, sizeof text, " %lldx%lld V%lld", (long long)rows, (long long)width, (long long)vocabulary);
  else std::snprintf(text, sizeof text, " %lldx%lld", (long long)rows, (long long)width);
  return text;
}
std::string label(const char* op, const Shape& s) {
  char text[128];
  std::snprintf(text, sizeof text, "%s %s, %lldx%lld H%lld/%lld D%lld", op, s.name, (long long)s.sequences,
                (long long)s.length, (long long)s.heads, (long long)s.kv_heads, (long long)s.head_dim);
  return text;
}

void packed(Report& report, const Shape& s) {
  const int64_t T = s.sequences * s.length, H = s.heads, K = s.kv_heads, D = s.head_dim;
  std::vector<int32_t> starts;
  for (int64_t i = 0; i <= s.sequences; ++i) starts.push_back(int32_t(i * s.length));
  std::vector<float> qkv = numbers(T * (H + 2 * K) * D), grad = qkv, out = numbers(T * H * D), dout = out, lse = numbers(T * H);
  const auto part = [&](std::vector<float>& x, int64_t head, int64_t heads) {
    TensorView view = f32(x.data() + head * D, {T, heads, D});
    view.row_stride = (H + 2 * K) * D;
    return view;
  };
  const TensorView q = part(qkv, 0, H), k = part(qkv, H, K), v = part(qkv, H + K, K);
  const TensorView cu = i32(starts.data(), {s.sequences + 1}), o = f32(out.data(), {T, H, D}), l = f32(lse.data(), {T, H});
  const double pairs = double(s.sequences) * double(s.length) * double(s.length + 1) / 2 * double(H) * double(D);
  report.add(label("packed forward", s), 4 * pairs, T, s.forward_floor,
             [&] { attention_packed(report.stream, {q, k, v, cu, o, l, 0.2f, 0}); });
  report.add(label("packed backward", s), 10 * pairs, T, s.backward_floor, [&] {
    attention_packed_grad(report.stream, {q, k, v, cu, o, l, f32(dout.data(), {T, H, D}), part(grad, 0, H),
                                          part(grad, H, K), part(grad, H + K, K), 0.2f, 0});
  });
}

/// As many rows at `position` of each sequence in a paged cache.
void paged(Report& report, const char* what, const Shape& s, int64_t sequences, const std::vector<int32_t>& position,
           double floor) {
  const int64_t W = 16, H = s.heads, K = s.kv_heads, D = s.head_dim, M = (s.length + W - 1) / W, R = int64_t(position.size());
  std::vector<float> keys = numbers(sequences * M * K * W * D), values = keys, q = numbers(R * (H + 2 * K) * D), out(size_t(R * H * D));
  std::vector<int32_t> tables(size_t(sequences * M)), sequence(position.size()), at = position;
  std::iota(tables.begin(), tables.end(), 0);
  for (int64_t r = 0; r < R; ++r) sequence[size_t(r)] = int32_t(r * sequences / R);
  const KvPages pages{f32(keys.data(), {sequences * M, K * W * D}), f32(values.data(), {sequences * M, K * W * D}), K, W, D};
  const TensorView table = i32(tables.data(), {sequences, M}), seq = i32(sequence.data(), {R}), pos = i32(at.data(), {R});
  const auto part = [&](int64_t head, int64_t heads) {
    TensorView view = f32(q.data() + head * D, {R, heads, D});
    view.row_stride = (H + 2 * K) * D;
    return view;
  };
  double flops = 0;
  for (int32_t p : position) flops += 4.0 * double(p + 1) * double(H * D);
  report.add(label(what, s), flops, R, floor, [&] {
    attention_paged(report.stream, {part(0, H), seq, pos, table, pages, f32(out.data(), {R, H, D}), 0.2f, 0});
  });
  report.add(label("kv_write", s), 0, R, 0,
             [&] { kv_write(report.stream, {part(H, K), part(H + K, K), seq, pos, table, pages}); });
}

/// One row for each of `batch` sequences, at positions from half the sequence's length on.
void decode(Report& report, const Shape& s, int64_t batch) {
  std::vector<int32_t> position(static_cast<size_t>(batch));
  for (int64_t r = 0; r < batch; ++r) position[size_t(r)] = int32_t(s.length / 2 + r * s.length / 2 / batch);
  paged(report, "decode", s, batch, position, s.decode_floor);
}

/// The last 512 rows of a prompt.
void prefill(Report& report, const Shape& s) {
  std::vector<int32_t> position(512);
  std::iota(position.begin(), position.end(), int32_t(s.length - 512));
  paged(report, "paged prefill", s, 1, position, s.forward_floor);
}

void head(Report& report, int64_t rows, int64_t width, int64_t vocabulary) {
  std::vector<float> h = numbers(rows * width), w = numbers(vocabulary * width), dw = w, dh = h;
  std::vector<float> logprobs(static_cast<size_t>(rows)), entropies = logprobs, lse = logprobs, a = numbers(rows);
  std::vector<int32_t> targets(static_cast<size_t>(rows), 1), tokens = targets;
  const int64_t bytes = packed_bytes({}, vocabulary, width, DType::kF32) + packed_bytes({}, width, vocabulary, DType::kF32);
  Arena memory(bytes + 256, "bench"), scratch(lm_head_scratch_bytes(report.stream, rows, width, vocabulary), "bench");
  const PackedMatrix p{vocabulary, width, DType::kF32, memory.take(packed_bytes({}, vocabulary, width, DType::kF32))};
  const PackedMatrix t{width, vocabulary, DType::kF32, memory.take(packed_bytes({}, width, vocabulary, DType::kF32))};
  pack_matrix({}, {f32(w.data(), {vocabulary, width}), false, p});
  pack_matrix({}, {f32(w.data(), {vocabulary, width}), true, t});
  const TensorView hv = f32(h.data(), {rows, width}), tv = i32(targets.data(), {rows});
  const auto row = [rows](std::vector<float>& x) { return f32(x.data(), {rows}); };
  const double flops = 2.0 * double(rows) * double(width) * double(vocabulary);
  const std::string shape = shape_text(rows, width, vocabulary);
  report.add(std::string("head pass 1").append(shape), flops, rows, 0.4, [&] {
    lm_head(report.stream, {hv, p, tv, row(logprobs), row(entropies), row(lse), 1.0f, &scratch});
  });
  report.add(std::string("head pass 2").append(shape), 3 * flops, rows, 0.5, [&] {
    lm_head_grad(report.stream, {hv, p, t, tv, row(lse), row(entropies), row(a), {}, f32(dh.data(), {rows, width}),
                                 f32(dw.data(), {vocabulary, width}), 1.0f, &scratch});
  });
  if (vocabulary > 16 * 1024) return;  // a training shape: sampling from so many ids has no floor
  std::vector<SampleKey> keys(static_cast<size_t>(rows));
  const auto sample = [&](const char* how, const SamplingParams& params) {
    const std::vector<SamplingParams> all(static_cast<size_t>(rows), params);
    report.add(std::string("head sample ").append(how).append(shape), flops, rows, 0.2, [&] {
      lm_head_sample(report.stream, {hv, p, all.data(), keys.data(), i32(tokens.data(), {rows}), row(logprobs), row(entropies), &scratch});
    });
  };
  sample("T=1", {});
  sample("top-p 0.95", {0.6f, 0, 0.95f, 0.0f});
}

void row_ops(Report& report, int64_t rows, int64_t width, int64_t mlp, int64_t heads) {
  std::vector<float> x = numbers(rows * width), y = x, dy = x, weight = numbers(width), dweight = weight;
  std::vector<float> gate_up = numbers(rows * 2 * mlp), dgate_up = gate_up, act = numbers(rows * mlp);
  std::vector<float> table = numbers(64 * width / heads);
  std::vector<int32_t> ids(static_cast<size_t>(rows), 3);
  const TensorView xv = f32(x.data(), {rows, width}), yv = f32(y.data(), {rows, width}), w = f32(weight.data(), {width});
  const std::string shape = shape_text(rows, width);
  const Stream& s = report.stream;
  const TensorView dyv = f32(dy.data(), {rows, width}), dw = f32(dweight.data(), {width});
  const TensorView both = f32(gate_up.data(), {rows, 2 * mlp}), dboth = f32(dgate_up.data(), {rows, 2 * mlp});
  const TensorView one = f32(act.data(), {rows, mlp}), id = i32(ids.data(), {rows});
  const TensorView heads_view = f32(dy.data(), {rows, heads, width / heads});
  const TensorView angles = f32(table.data(), {64, width / heads}), embedded = f32(table.data(), {4, width});
  const auto add = [&](const char* op, const std::function<void()>& f) {
    report.add(std::string(op).append(shape), 0, rows, 0, f);
  };
  add("rms_norm", [&] { rms_norm(s, {xv, w, yv}); });
  add("rms_norm_grad", [&] { rms_norm_grad(s, {xv, w, dyv, yv, dw}); });
  add("rope", [&] { rope(s, {heads_view, id, angles}); });
  add("swiglu", [&] { swiglu(s, {both, one}); });
  add("swiglu_grad", [&] { swiglu_grad(s, {both, one, dboth}); });
  add("embedding_grad", [&] { embedding_grad(s, {id, xv, embedded}); });
}

}  // namespace

int main(int argc, char** argv) {
  const auto [json, smoke, filter] = bench::parse_options(argc, argv);
  ThreadPool pool(2);
  Json all = Json::object(), rows = Json::array();
  all.set("isa", Json::string(cpu::isa_name(cpu::isa())));
  for (const Stream& stream : {Stream{}, Stream{.pool = &pool}}) {
    Report report(stream, json, smoke, filter);
    for (const Shape& s : kShapes) packed(report, s);
    for (const Shape& s : kShapes) decode(report, s, s.length > 1024 ? 4 : 32);
    for (const Shape& s : kShapes) if (s.sequences == 1) prefill(report, s);
    head(report, 4096, 96, 226);
    head(report, 32, 96, 226);
    head(report, 32, 512, 8192);
    head(report, 512, 256, 65536);
    row_ops(report, 4096, 96, 256, 4);
    row_ops(report, 32, 96, 256, 4);
    all.set(stream.pool ? "peakGflopsTwoThreads" : "peakGflops", Json::number(report.peak()));
    for (const Json& row : report.rows().items("rows")) rows.push(row);
  }
  all.set("rows", std::move(rows));
  if (json) std::printf("%s\n", all.dump().c_str());
}
