#include "kernels/cpu/attention.h"

#include <algorithm>
#include <memory>
#include <new>

#include "kernels/cpu/attention_block.h"

namespace hone::kernels::cpu {
namespace {

static_assert(kKeySplit == kAttentionSplit);

// Query rows of one work item of packed attention: a long sequence is split, and each item transposes the
// keys it needs.
constexpr int64_t kItemRows = 512;
// Number of multiply-adds for which a chunk is worth moving to another core (about 10 us).
constexpr double kChunkWork = 5e5;

struct AlignedFree {
  void operator()(float* p) const { ::operator delete(p, std::align_val_t{64}); }
};

/// This thread's scratch. It grows to the longest sequence seen, and is kept until the thread ends.
float* thread_scratch(int64_t floats, const char* op) {
  thread_local std::unique_ptr<float, AlignedFree> block;
  thread_local int64_t size = 0;
  if (size < floats) {
    block.reset();
    size = 0;
    void* memory = ::operator new(size_t(floats) * sizeof(float), std::align_val_t{64}, std::nothrow);
    if (!memory) fail(Code::kOutOfMemory, "%s: no memory for a scratch of %lld floats.", op, (long long)floats);
    block.reset(static_cast<float*>(memory));
    size = floats;
  }
  return block.get();
}

/// Number of items per chunk, so that a chunk is worth moving to another core, if the mean item has `work`
/// multiply-adds.
int64_t grain_of(double work) { return std::max<int64_t>(1, int64_t(kChunkWork / std::max(work, 1.0))); }

double mean_work(int64_t tokens, int64_t sequences, int64_t heads, int64_t head_dim) {
  const double length = double(tokens) / double(std::max<int64_t>(1, sequences));
  return length * length * double(heads) * double(head_dim);
}

}  // namespace

void attention_packed(const Stream& stream, const AttentionPackedArgs& a) {
  const int64_t heads = a.q.dim(1), kv_heads = a.k.dim(1), width = a.q.dim(2), group = heads / kv_heads;
  const int64_t sequences = a.cu_seqlens.dim(0) - 1, tokens = a.q.dim(0);
  const int32_t* start = a.cu_seqlens.as<int32_t>();
  int64_t longest = 0;
  for (int64_t s = 0; s < sequences; ++s) longest = std::max<int64_t>(longest, start[s + 1] - start[s]);
  const int64_t parts = std::max<int64_t>(1, (longest + kItemRows - 1) / kItemRows);
  const auto run = HONE_PICK(attend_packed);
  const auto item = [&](int64_t s, int64_t kv_head, int64_t part) {
    const int64_t row = start[s], rows = start[s + 1] - row, begin = part * kItemRows;
    if (begin >= rows) return;
    const int64_t end = std::min(begin + kItemRows, rows);
    run({a.q.row<float>(row) + kv_head * group * width, a.k.row<float>(row) + kv_head * width,
         a.v.row<float>(row) + kv_head * width, a.q.row_stride, a.k.row_stride, a.v.row_stride,
         a.out.row<float>(row) + kv_head * group * width, a.out.row_stride,
         a.lse.empty() ? nullptr : a.lse.row<float>(row) + kv_head * group, a.lse.row_stride, begin, end, group, width,
         a.window, a.scale, a.softcap, thread_scratch(packed_scratch(end, width), "attention_packed"),
         a.sinks.empty() ? nullptr : a.sinks.as<float>() + kv_head * group});
  };
  const int64_t grain = grain_of(mean_work(tokens, sequences, group, width) / double(parts));
  stream.parallel_for(sequences * kv_heads * parts, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) item(i / (kv_heads * parts), i / parts % kv_heads, i % parts);
  });
}

void attention_packed_grad(const Stream& stream, const AttentionPackedGradArgs& a) {
  const int64_t heads = a.q.dim(1), kv_heads = a.k.dim(1), width = a.q.dim(2), group = heads / kv_heads;
  const int64_t sequences = a.cu_seqlens.dim(0) - 1, tokens = a.q.dim(0);
  const int32_t* start = a.cu_seqlens.as<int32_t>();
  const auto run = HONE_PICK(attend_packed_grad);
  const auto item = [&](int64_t s, int64_t kv_head) {
    const int64_t row = start[s], rows = start[s + 1] - row, q = kv_head * group * width, k = kv_head * width;
    if (rows == 0) return;
    run({a.q.row<float>(row) + q, a.k.row<float>(row) + k, a.v.row<float>(row) + k, a.out.row<float>(row) + q,
         a.lse.row<float>(row) + kv_head * group, a.dout.row<float>(row) + q, a.q.row_stride, a.k.row_stride,
         a.v.row_stride, a.out.row_stride, a.lse.row_stride, a.dout.row_stride, a.dq.row<float>(row) + q,
         a.dk.row<float>(row) + k, a.dv.row<float>(row) + k, a.dq.row_stride, a.dk.row_stride, a.dv.row_stride, rows,
         group, width, a.window, a.scale, a.softcap, thread_scratch(packed_grad_scratch(rows, width), "attention_packed_grad")});
  };
  stream.parallel_for(sequences * kv_heads, grain_of(2.5 * mean_work(tokens, sequences, group, width)),
                      [&](int64_t first, int64_t last) {
                        for (int64_t i = first; i < last; ++i) item(i / kv_heads, i % kv_heads);
                      });
}

void attention_sinks_grad(const Stream& stream, const AttentionSinksGradArgs& a) {
  const int64_t rows = a.out.dim(0), width = a.out.dim(2);
  const auto run = HONE_PICK(sink_gradient);
  stream.parallel_for(a.out.dim(1), grain_of(double(rows * width)), [&](int64_t first, int64_t last) {
    for (int64_t h = first; h < last; ++h) {
      a.dsinks.as<float>()[h] += float(run({a.out.as<float>() + h * width, a.dout.as<float>() + h * width, a.lse.as<float>() + h, a.out.row_stride,
                                            a.dout.row_stride, a.lse.row_stride, rows, width, a.sinks.as<float>()[h]}));
    }
  });
}

void kv_write(const Stream& stream, const KvWriteArgs& a) {
  const int64_t rows = a.k.dim(0);
  const auto run = HONE_PICK(write_kv);
  const int64_t row_floats = a.to.pages.kv_heads * a.to.pages.head_dim;
  // Writing a float of a key, whose layout is scattered, takes about a nanosecond.
  stream.parallel_for(rows, std::max<int64_t>(1, 16384 / std::max<int64_t>(1, row_floats)),
                      [&](int64_t begin, int64_t end) {
    run({a.k.row<float>(begin), a.v.row<float>(begin), a.k.row_stride, a.v.row_stride,
         a.to.row_sequence.as<int32_t>() + begin, a.to.row_position.as<int32_t>() + begin, a.to.block_tables.as<int32_t>(),
         a.to.block_tables.row_stride, a.to.pages.keys.data, a.to.pages.values.data,
         a.to.pages.keys.dtype == DType::kBF16, a.to.pages.page_tokens, a.to.pages.kv_heads, a.to.pages.head_dim, end - begin});
  });
}

void attention_paged(const Stream& stream, const AttentionPagedArgs& a) {
  const int64_t rows = a.q.dim(0), heads = a.q.dim(1);
  const auto run = HONE_PICK(attend_paged);
  const PagedRows block{a.q.as<float>(), a.q.row_stride, a.row_sequence.as<int32_t>(), a.row_position.as<int32_t>(),
                        a.block_tables.as<int32_t>(), a.block_tables.row_stride, a.pages.keys.data,
                        a.pages.values.data, a.pages.keys.dtype == DType::kBF16, a.pages.page_tokens, a.pages.kv_heads, heads / a.pages.kv_heads,
                        a.pages.head_dim, a.window, a.out.as<float>(), a.out.row_stride, a.scale, a.softcap,
                        a.sinks.empty() ? nullptr : a.sinks.as<float>()};
  double keys = 0;
  for (int64_t r = 0; r < rows; ++r) keys += double(a.row_position.as<int32_t>()[r] + 1);
  const double work = 2.0 * keys / double(std::max<int64_t>(1, rows)) * double(heads * a.pages.head_dim);
  // Rows of one prompt share tiles of up to eight rows: chunk sizes that are multiples of eight keep tiles
  // whole.
  stream.parallel_for(rows, (grain_of(work) + 7) / 8 * 8,
                      [&](int64_t begin, int64_t end) { run(block, begin, end); });
}

}  // namespace hone::kernels::cpu
