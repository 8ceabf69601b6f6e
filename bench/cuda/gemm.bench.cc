// Matrix products on the GPU: TFLOP/s of training shapes, GB/s of decode shapes, next to cublasLt in the same run.
// Random rows of each result are compared with cublasLt's, random elements of them with sums in f64; an error fails the
// bench. Uses wgmma where available, mma.sync with HONE_CUDA_PORTABLE=1.
// `bench_cuda_gemm [words that select rows by name] [--json] [--smoke] [--peer FILE | --no-peer]`.
#include <cmath>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/cuda/cublaslt.h"
#include "kernels/cuda/matmul.h"
#include "kernels/matmul.h"
#include "report.h"

using namespace hone;
using kernels::LinearArgs;
using kernels::LinearGradWeightArgs;

namespace {

enum class Kind { kForward, kGradInput, kGradWeight };

struct Product {
  const char* what;
  Kind kind;
  int64_t m, n, k;
};

/// The linear layers of a 15B model (width 5120, 32 + 2 x 8 heads of 128, MLP 14336).
std::vector<Product> all_products(bool smoke) {
  if (smoke) {
    return {{"smoke", Kind::kForward, 300, 136, 200}, {"smoke", Kind::kGradInput, 300, 200, 136},
            {"smoke", Kind::kGradWeight, 300, 136, 200}, {"smoke", Kind::kForward, 8, 136, 200}};
  }
  std::vector<Product> rows{{"square", Kind::kForward, 8192, 8192, 8192}};
  struct Layer { const char* name; int64_t n, k; };
  const Layer layers[] = {{"qkv", 6144, 5120}, {"o", 5120, 4096}, {"gate|up", 28672, 5120}, {"down", 5120, 14336}};
  for (const Layer& l : layers) {
    for (const int64_t m : {8192, 32768}) {
      rows.push_back({l.name, Kind::kForward, m, l.n, l.k});
      rows.push_back({l.name, Kind::kGradInput, m, l.k, l.n});
      rows.push_back({l.name, Kind::kGradWeight, m, l.n, l.k});
    }
  }
  for (const Layer& l : layers) {
    for (const int64_t m : {1, 8, 16, 32, 64, 128, 256}) rows.push_back({l.name, Kind::kForward, m, l.n, l.k});
  }
  return rows;
}

bool decodes(const Product& r) { return r.m <= 256; }
double flops(const Product& r) { return 2.0 * double(r.m) * double(r.n) * double(r.k); }
/// The bytes that must cross the memory bus: bf16 operands once, the output once (a weight gradient is f32, read and
/// written).
double bytes(const Product& r) {
  const double m = double(r.m), n = double(r.n), k = double(r.k);
  return r.kind == Kind::kGradWeight ? 2 * m * (n + k) + 8 * n * k : 2 * (m * k + n * k + m * n);
}
std::string name_of(const Product& r) {
  const char* const kinds[] = {"forward", "dX", "dW"};
  return std::string(decodes(r) ? "decode " : kinds[int(r.kind)]) + (decodes(r) ? "" : " ") + r.what + " " +
         std::to_string(r.m) + "x" + std::to_string(r.n) + "x" + std::to_string(r.k);
}

constexpr float kScale = 0.5f;

/// The operands of one row. A decode row cycles through several copies of its weights, so that no cache holds them.
struct Operands {
  Product row;
  const Stream& stream;
  int copies;
  Arena memory, scratch;
  uint16_t *x, *dy, *w;
  void* y;

  static int64_t need(const Product& r, int copies) {
    return Arena::rounded(2 * r.m * r.k) + Arena::rounded(2 * r.m * r.n) + copies * Arena::rounded(2 * r.n * r.k) +
           Arena::rounded(r.kind == Kind::kGradWeight ? 4 * r.n * r.k : 2 * r.m * r.n) + 256;
  }
  Operands(const Stream& stream, const Product& r)
      : row(r), stream(stream), copies(decodes(r) ? int(std::min<int64_t>(13, (int64_t(512) << 20) / (2 * r.n * r.k) + 1)) : 1),
        memory(need(r, copies), "bench operands", Memory::kDevice),
        scratch(kernels::linear_scratch_bytes(stream, r.m, r.n, r.k) + 64, "bench scratch", Memory::kDevice) {
    x = memory.take_array<uint16_t>(r.m * r.k);
    dy = memory.take_array<uint16_t>(r.m * r.n);
    w = memory.take_array<uint16_t>(copies * Arena::rounded(2 * r.n * r.k) / 2);
    y = memory.take(r.kind == Kind::kGradWeight ? 4 * r.n * r.k : 2 * r.m * r.n);
    bench::fill_random(stream, x, r.m * r.k, kScale);
    bench::fill_random(stream, dy, r.m * r.n, kScale);
    bench::fill_random(stream, w, copies * Arena::rounded(2 * r.n * r.k) / 2, kScale);
  }
  void clear() { zero(stream, y, row.kind == Kind::kGradWeight ? 4 * row.n * row.k : 2 * row.m * row.n); }
  LinearArgs linear_args(int call) {
    uint16_t* const weights = w + call % copies * (Arena::rounded(2 * row.n * row.k) / 2);
    return {{x, DType::kBF16, {row.m, row.k}}, {row.n, row.k, DType::kBF16, weights, row.kind == Kind::kGradInput}, {},
            {y, DType::kBF16, {row.m, row.n}}, false, &scratch};
  }
  LinearGradWeightArgs grad_args() {
    return {{dy, DType::kBF16, {row.m, row.n}}, {x, DType::kBF16, {row.m, row.k}}, {y, DType::kF32, {row.n, row.k}}, {}};
  }
  bool wide() const { return row.kind == Kind::kGradWeight; }
  int64_t out_rows() const { return wide() ? row.n : row.m; }
  int64_t out_columns() const { return wide() ? row.k : row.n; }
  /// Returns the given rows of the result, one after the other.
  std::vector<float> rows_of_result(const std::vector<int64_t>& rows) const {
    const int64_t columns = out_columns();
    std::vector<float> out;
    for (const int64_t r : rows) {
      std::vector<float> line(static_cast<size_t>(columns));
      if (wide()) {
        download(stream, line.data(), static_cast<const float*>(y) + r * columns, columns * 4);
      } else {
        std::vector<uint16_t> bits(line.size());
        download(stream, bits.data(), static_cast<const uint16_t*>(y) + r * columns, columns * 2);
        std::transform(bits.begin(), bits.end(), line.begin(), bf16_to_f32);
      }
      out.insert(out.end(), line.begin(), line.end());
    }
    return out;
  }
};

constexpr int64_t kSampled = 64;  // sampled rows, and sampled columns of each for sums in f64

/// The largest error of random elements of `rows`, whose values are `values`, against f64 sums of the random operands.
double error_of(const Operands& o, const std::vector<int64_t>& rows, const std::vector<float>& values) {
  static const bench::RandomValues filled(kScale);
  const auto [what, kind, m, n, k] = o.row;
  const int64_t depth = o.wide() ? m : k, columns = o.out_columns();
  const auto left = [&](int64_t r) { return o.wide() ? filled.line(r, m, n) : filled.line(r * k, k); };
  const auto right = [&](int64_t c) {
    return kind == Kind::kForward ? filled.line(c * k, k) : filled.line(c, depth, columns);
  };
  bench::Difference difference;
  std::vector<std::vector<float>> lines;
  for (const int64_t r : rows) lines.push_back(left(r));
  for (const int64_t c : bench::random_indices(columns, kSampled)) {
    const std::vector<float> other = right(c);
    for (size_t i = 0; i < rows.size(); ++i) {
      double sum = 0;
      for (size_t j = 0; j < size_t(depth); ++j) sum += double(lines[i][j]) * double(other[j]);
      difference.add(double(values[i * size_t(columns) + size_t(c)]), sum);
    }
  }
  return difference.share();
}

struct Run {
  double us = 0;
  std::vector<float> rows;
};

template <class Linear, class GradWeight>
Run measure(const bench::Report& report, Operands& o, const std::vector<int64_t>& rows, const Linear& linear, const GradWeight& grad_weight) {
  const auto call = [&](int i) {
    if (o.row.kind == Kind::kGradWeight) grad_weight(o.grad_args());
    else linear(o.linear_args(i));
  };
  o.clear();
  call(0);
  std::vector<float> result = o.rows_of_result(rows);
  return {report.median_us(call), std::move(result)};
}

double difference(const std::vector<float>& a, const std::vector<float>& b) {
  bench::Difference out;
  for (size_t i = 0; i < a.size(); ++i) out.add(double(a[i]), double(b[i]));
  return out.share();
}

/// cublasLt with its own workspace; `library` is null where it is missing.
struct Peer {
  Arena workspace;
  std::unique_ptr<kernels::cuda::CublasLt> library;

  Peer(const bench::Report& report, const std::string& file)
      : workspace(int64_t(64) << 20, "cublasLt workspace", Memory::kDevice) {
    report.tried("cublasLt", [&] {
      library = std::make_unique<kernels::cuda::CublasLt>(workspace.take(workspace.capacity()), workspace.capacity(), file);
      std::fprintf(stderr, "peer: cublasLt %lld\n", (long long)library->version());
    });
  }
};

void measure(const bench::Report& report, const Product& product, kernels::cuda::CublasLt* peer) {
  const Stream& stream = report.stream;
  const bool wgmma = kernels::cuda::uses_wgmma(product.n, product.k);
  bench::Row row;
  row.name = name_of(product) + (wgmma ? ", wgmma" : ", mma.sync");
  if (!report.wants(row.name)) return;
  row.flops = flops(product);
  row.bytes = bytes(product);
  if (decodes(product)) row.target_of_floor = product.m < 8 ? 0.6 : 0.8;
  else row.target_teraflops = wgmma ? 740 : 450;
  report.tried(row.name, [&] {
    Operands operands(stream, product);
    const std::vector<int64_t> rows = bench::random_indices(operands.out_rows(), kSampled);
    const Run ours = measure(
        report, operands, rows, [&](const LinearArgs& a) { kernels::linear(stream, a); },
        [&](const LinearGradWeightArgs& a) { kernels::linear_grad_weight(stream, a); });
    row.error = error_of(operands, rows, ours.rows);
    row.most_error = operands.wide() ? 1e-3 : 6e-3;  // a bf16 result is rounded once: a relative error of 2^-9
    if (peer) {
      report.tried("cublasLt: " + row.name, [&] {
        const Run other = measure(
            report, operands, rows, [&](const LinearArgs& a) { peer->linear(stream, a); },
            [&](const LinearGradWeightArgs& a) { peer->linear_grad_weight(stream, a); });
        row.peer_us = other.us;
        row.difference = difference(ours.rows, other.rows);
      });
    }
    report.add(row, ours.us);
  });
}

}  // namespace

int main(int argc, char** argv) {
  bool with_peer = true;
  std::string file;
  std::vector<char*> rest{argv[0]};
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--no-peer") == 0) with_peer = false;
    else if (std::strcmp(argv[i], "--peer") == 0 && i + 1 < argc) file = argv[++i];
    else rest.push_back(argv[i]);
  }
  return bench::run("gemm", bench::parse_options(int(rest.size()), rest.data()), [&](bench::Report& report) {
    std::unique_ptr<Peer> peer;
    if (with_peer) peer = std::make_unique<Peer>(report, file);
    for (const Product& p : all_products(report.smoke())) measure(report, p, peer ? peer->library.get() : nullptr);
  });
}
