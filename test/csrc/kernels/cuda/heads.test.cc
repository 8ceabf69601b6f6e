// prepare_heads has, to the bit, the results of the three ops it replaces, whose own tests compare them with
// the CPU's.
//
// Faults put into the code, each detected: the norm not rounded before rotary embedding; no __syncwarp
// between them; q's weights used for k; padding rows written (AddressSanitizer); whole vectors of the table
// at head dims 8 and 24; the wrong place within a page.
#include <tuple>

#include "attention_cache.h"
#include "each_way.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"

namespace kernels_cuda_heads_test {

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

TEST_SETUP { say_hopper(); }

namespace {

/// Inputs of prepare_heads and of the three ops: rows to be written to a KV cache.
struct Unprepared {
  AttentionShape shape;
  std::vector<Row> rows;
  DeviceRows qk, v;
  PagedCache cache;
  DeviceArray<float> q_norm, k_norm, table;
  DeviceArray<int32_t> positions;
  Where where;

  Unprepared(const AttentionShape& s, const std::vector<Row>& r, const PackedBatch& batch, const PagedCache& pages,
             const std::vector<std::vector<float>>& floats)
      : shape(s), rows(r), qk(joined(batch), s.heads + s.kv_heads, s.head_dim, 8), v(batch.v, s.kv_heads, s.head_dim, 24),
        cache(pages.empty_copy()), q_norm(floats[0]), k_norm(floats[1]), table(floats[2]), positions(column(r)), where(r, cache) {}
  std::vector<float> joined(const PackedBatch& batch) const {
    std::vector<float> out;
    for (int64_t t = 0; t < shape.tokens(); ++t) {
      out.insert(out.end(), batch.q.begin() + t * shape.q_width(), batch.q.begin() + (t + 1) * shape.q_width());
      out.insert(out.end(), batch.k.begin() + t * shape.kv_width(), batch.k.begin() + (t + 1) * shape.kv_width());
    }
    return out;
  }
  static std::vector<int32_t> column(const std::vector<Row>& rows) {
    std::vector<int32_t> out;
    for (const Row& row : rows) out.push_back(std::max(row.position, 0));
    return out;
  }
  PrepareHeadsArgs args(bool norm, bool cached, bool interleaved) const {
    const int64_t D = shape.head_dim;
    PrepareHeadsArgs a;
    a.qk = qk.view(), a.v = v.view(), a.eps = 1e-3f, a.interleaved = interleaved;
    if (norm) a.q_norm = q_norm.view(DType::kF32, {D}), a.k_norm = k_norm.view(DType::kF32, {D});
    a.positions = positions.view(DType::kI32, {positions.size()}), a.table = table.view(DType::kF32, {table.size() / D, D});
    if (cached) a.to = {where.sequence(), where.position(), where.tables(), cache.view()};
    return a;
  }
  void one_after_another(bool norm, bool cached, bool interleaved) const {
    const PrepareHeadsArgs a = args(norm, cached, interleaved);
    TensorView q = a.qk, k = a.qk;
    q.shape[1] = shape.heads, k.shape[1] = shape.kv_heads, k.data = a.qk.as<uint16_t>() + shape.q_width();
    if (norm) {
      rms_norm(device_stream(), {q, a.q_norm, q, a.eps});
      rms_norm(device_stream(), {k, a.k_norm, k, a.eps});
    }
    rope(device_stream(), {.x = a.qk, .positions = a.positions, .table = a.table, .interleaved = interleaved});
    if (cached) kv_write(device_stream(), {k, a.v, a.to});
  }
};

}  // namespace

TEST(heads_prepared_in_one_launch_have_the_bits_of_norm_rotation_and_write) {
  NEEDS_DEVICE;
  const AttentionShape shapes[] = {{{21}, 3, 1, 128}, {{21}, 4, 2, 32}, {{21}, 2, 2, 24}, {{21}, 1, 1, 8}, {{21}, 2, 1, 256}, {{21}, 1, 1, 136}};
  for (const AttentionShape& shape : shapes) {
    const int64_t D = shape.head_dim, places = 40;
    const PackedBatch batch(shape);
    std::vector<Row> rows;
    for (int i = 0; i < shape.tokens(); ++i) rows.push_back(i % 5 == 3 ? Row{-1, i % 2 ? -1 : 7} : Row{0, i});
    const std::vector<std::vector<float>> floats{random_floats(D), random_floats(D), random_floats(places * D)};
    const PagedCache pages(shape, 16);
    for (const auto& [norm, cached, neighbours] : {std::tuple{true, true, false}, {true, false, false}, {false, true, false}, {true, true, true}, {false, false, true}}) {
      const Unprepared once(shape, rows, batch, pages, floats), thrice(shape, rows, batch, pages, floats);
      prepare_heads(device_stream(), once.args(norm, cached, neighbours));
      thrice.one_after_another(norm, cached, neighbours);
      EXPECT_TRUE(once.qk.memory.download() == thrice.qk.memory.download());
      EXPECT_TRUE(once.cache.keys() == thrice.cache.keys());
      EXPECT_TRUE(once.cache.values() == thrice.cache.values());
    }
  }
}

namespace {

struct Projection {
  AttentionShape shape;
  int64_t k;
  bool norm, bias;
  int64_t turned;  // number of rotated dimensions per head
  bool interleaved = false;
};

/// q, k and v of a step's rows, and the pages afterwards; projection and preparation run as two ops, or as
/// one.
std::vector<std::vector<uint16_t>> projected(const Projection& p, const std::vector<Row>& rows, const PagedCache& pages,
                                             const std::vector<DeviceArray<float>>& floats, const DeviceArray<uint16_t>& x,
                                             const DeviceArray<uint16_t>& w, bool cached, bool at_once) {
  const int64_t R = int64_t(rows.size()), H = p.shape.heads, K = p.shape.kv_heads, D = p.shape.head_dim, N = (H + 2 * K) * D;
  const DeviceArray<uint16_t> qkv(R * N);
  const PagedCache cache = pages.empty_copy();
  const Where where(rows, cache);
  const DeviceArray<int32_t> positions(Unprepared::column(rows));
  Arena scratch(int64_t(4) << 20, "test", Memory::kDevice);
  const auto heads = [&](int64_t first, int64_t count) {
    TensorView view(qkv.data() + first * D, DType::kBF16, {R, count, D});
    view.row_stride = N;
    return view;
  };
  LinearArgs product{x.view(DType::kBF16, {R, p.k}), {N, p.k, DType::kBF16, w.data()}, {}, qkv.view(DType::kBF16, {R, N})};
  product.scratch = &scratch;
  if (p.bias) product.bias = floats[3].view(DType::kF32, {N});
  PrepareHeadsArgs a;
  a.qk = heads(0, H + K), a.v = heads(H + K, K), a.eps = 1e-3f, a.norm_offset = 0.5f, a.interleaved = p.interleaved;
  if (p.norm) a.q_norm = floats[0].view(DType::kF32, {D}), a.k_norm = floats[1].view(DType::kF32, {D});
  a.positions = positions.view(DType::kI32, {R});
  a.table = floats[2].view(DType::kF32, {floats[2].size() / p.turned, p.turned});
  if (cached) a.to = {where.sequence(), where.position(), where.tables(), cache.view()};
  if (at_once) {
    linear_heads(device_stream(), {product, a});
  } else {
    linear(device_stream(), product);
    prepare_heads(device_stream(), a);
  }
  return {qkv.download(), cache.keys(), cache.values()};
}

}  // namespace

TEST(a_product_and_its_heads_at_once_have_the_bits_of_one_after_the_other) {
  NEEDS_DEVICE;
  const Projection all[] = {{{{67}, 1, 1, 128}, 1096, true, false, 128}, {{{7}, 1, 1, 64}, 2112, false, true, 64},
                            {{{5}, 4, 2, 16}, 40, true, true, 16},       {{{5}, 2, 2, 24}, 40, true, false, 24},
                            {{{9}, 2, 1, 64}, 40, true, false, 32},      {{{9}, 1, 1, 32}, 72, true, true, 32},
                            {{{9}, 2, 1, 64}, 40, false, true, 32, true}, {{{9}, 1, 1, 32}, 72, true, true, 32, true}};
  each_way([&] {
    for (const Projection& p : all) {
      const AttentionShape& s = p.shape;
      const int64_t width = s.q_width() + 2 * s.kv_width();
      std::vector<Row> rows;
      for (int i = 0; i < s.tokens(); ++i) rows.push_back(i % 5 == 3 ? Row{-1, i % 2 ? -1 : 7} : Row{0, i});
      std::vector<DeviceArray<float>> floats;
      for (const int64_t n : {s.head_dim, s.head_dim, 80 * p.turned, width}) floats.emplace_back(random_floats(n));
      const DeviceArray<uint16_t> x(to_bf16(random_floats(s.tokens() * p.k))), w(to_bf16(random_floats(width * p.k)));
      const PagedCache pages(s, 16);
      for (const bool cached : {true, false}) {
        if (!cached && p.k > 100) continue;
        EXPECT_TRUE(projected(p, rows, pages, floats, x, w, cached, false) ==
                    projected(p, rows, pages, floats, x, w, cached, true));
      }
    }
  });
}

TEST(heads_that_are_not_the_products_are_refused) {
  NEEDS_DEVICE;
  const DeviceArray<uint16_t> x(32), w(32 * 32), qkv(32), other(32);
  const TensorView y = qkv.view(DType::kBF16, {1, 32});
  PrepareHeadsArgs a;
  a.qk = other.view(DType::kBF16, {1, 2, 8}), a.v = qkv.view(DType::kBF16, {1, 2, 8});
  EXPECT_THROWS(linear_heads(device_stream(), {{x.view(DType::kBF16, {1, 32}), {32, 32, DType::kBF16, w.data()}, {}, y}, a}),
                Code::kShape);
}

#else
TEST(cuda_heads) { SKIP("built without CUDA"); }
#endif

}  // namespace kernels_cuda_heads_test
