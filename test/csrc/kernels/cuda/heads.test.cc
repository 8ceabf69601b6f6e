// prepare_heads against the three ops it stands for, to the bit; those are held to the CPU's in tests of their own.
//
// Mutants tried, all killed: the norm not rounded before the rotation; no __syncwarp between them; q's weights for k;
// padding written (AddressSanitizer); whole vectors of the table at head dims 8 and 24; the wrong place inside a page.
#include "attention_cache.h"
#include "kernels/rms_norm.h"
#include "kernels/rope.h"

#ifdef HONE_HAVE_CUDA

using namespace hone;
using namespace hone::kernels;
using namespace hone::test;

namespace {

/// Rows on their way into a cache: what prepare_heads is given, and the same for the three ops.
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
  PrepareHeadsArgs args(bool norm, bool cached) const {
    const int64_t D = shape.head_dim;
    PrepareHeadsArgs a;
    a.qk = qk.view(), a.v = v.view(), a.eps = 1e-3f;
    if (norm) a.q_norm = q_norm.view(DType::kF32, {D}), a.k_norm = k_norm.view(DType::kF32, {D});
    a.positions = positions.view(DType::kI32, {positions.size()}), a.table = table.view(DType::kF32, {table.size() / D, D});
    if (cached) a.to = {where.sequence(), where.position(), where.tables(), cache.view()};
    return a;
  }
  void one_after_another(bool norm, bool cached) const {
    const PrepareHeadsArgs a = args(norm, cached);
    TensorView q = a.qk, k = a.qk;
    q.shape[1] = shape.heads, k.shape[1] = shape.kv_heads, k.data = a.qk.as<uint16_t>() + shape.q_width();
    if (norm) {
      rms_norm(device_stream(), {q, a.q_norm, q, a.eps});
      rms_norm(device_stream(), {k, a.k_norm, k, a.eps});
    }
    rope(device_stream(), {.x = a.qk, .positions = a.positions, .table = a.table});
    if (cached) kv_write(device_stream(), {k, a.v, a.to});
  }
};

}  // namespace

TEST(heads_prepared_in_one_launch_have_the_bits_of_norm_rotation_and_write) {
  NEEDS_DEVICE;
  const AttentionShape shapes[] = {{{21}, 3, 1, 128}, {{21}, 4, 2, 32}, {{21}, 2, 2, 24}, {{21}, 1, 1, 8}};
  for (const AttentionShape& shape : shapes) {
    const int64_t D = shape.head_dim, places = 40;
    const PackedBatch batch(shape);
    std::vector<Row> rows;
    for (int i = 0; i < shape.tokens(); ++i) rows.push_back(i % 5 == 3 ? Row{-1, i % 2 ? -1 : 7} : Row{0, i});
    const std::vector<std::vector<float>> floats{random_floats(D), random_floats(D), random_floats(places * D)};
    const PagedCache pages(shape, 16);
    for (const auto& [norm, cached] : {std::pair{true, true}, {true, false}, {false, true}}) {
      const Unprepared once(shape, rows, batch, pages, floats), thrice(shape, rows, batch, pages, floats);
      prepare_heads(device_stream(), once.args(norm, cached));
      thrice.one_after_another(norm, cached);
      EXPECT_TRUE(once.qk.memory.download() == thrice.qk.memory.download());
      EXPECT_TRUE(once.cache.keys() == thrice.cache.keys());
      EXPECT_TRUE(once.cache.values() == thrice.cache.values());
    }
  }
}

#else
TEST(cuda_heads) { SKIP("built without CUDA"); }
#endif

TEST_MAIN
