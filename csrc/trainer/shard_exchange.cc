#include "trainer/shard_exchange.h"

#include <algorithm>
#include <cstring>

namespace hone::trainer {
namespace {

constexpr int64_t kFloatGrain = 16384;  // elements that one thread copies or adds at least

size_t float_bytes(int64_t elements) { return size_t(elements) * sizeof(float); }

int64_t direction_bytes(const ShardLayout& layout) {
  return Arena::rounded(int64_t(float_bytes(layout.widest() * layout.ranks())));
}

}  // namespace

int64_t shard_exchange_bytes(const ShardLayout& layout) { return 2 * direction_bytes(layout); }

ShardExchange::ShardExchange(const Stream& stream, const ShardLayout& layout, dist::Communicator& ranks)
    : stream_(stream),
      layout_(layout),
      ranks_(ranks),
      memory_(shard_exchange_bytes(layout), "what ranks exchange") {
  out_ = memory_.take_array<float>(layout.widest() * layout.ranks());
  in_ = memory_.take_array<float>(layout.widest() * layout.ranks());
  std::fill_n(out_, layout.widest() * layout.ranks(), 0.0f);  // what pads a part is sent, too
}

void ShardExchange::reduce(const float* gradients, int given, float* shard) {
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    reduce_bucket(b, gradients + layout_.buckets()[b].offset, given, shard);
  }
}

void ShardExchange::reduce_bucket(size_t bucket, const float* gradients, int given, float* shard) {
  const int64_t width = layout_.width(bucket), offset = layout_.buckets()[bucket].offset;
  const int size = layout_.ranks();
  if (ranks_.rank() < given) {
    for (int rank = 0; rank < size; ++rank) {
      const ShardPart& part = layout_.part(bucket, rank);
      std::memcpy(out_ + rank * width, gradients + (part.offset - offset), float_bytes(part.count));
    }
  }
  ranks_.all_to_all(stream_, f32(out_, {width * size}), f32(in_, {width * size}));
  ranks_.wait(stream_);
  const ShardPart& own = layout_.part(bucket, ranks_.rank());
  stream_.parallel_for(own.count, kFloatGrain, [&](int64_t begin, int64_t end) {
    for (int rank = 0; rank < given; ++rank) {
      const float* const from = in_ + rank * width;
      float* const to = shard + own.local;
      for (int64_t i = begin; i < end; ++i) to[i] += from[i];
    }
  });
}

template <class Take>
void ShardExchange::gather_buckets(const float* whole, int64_t from_layer, const Take& take) {
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    if (layout_.buckets()[b].layer < from_layer) continue;
    const int64_t width = layout_.width(b);
    const ShardPart& own = layout_.part(b, ranks_.rank());
    std::memcpy(out_, whole + own.offset, float_bytes(own.count));
    ranks_.all_gather(stream_, f32(out_, {width}), f32(in_, {width * layout_.ranks()}));
    ranks_.wait(stream_);
    for (int rank = 0; rank < layout_.ranks(); ++rank) {
      if (rank != ranks_.rank()) take(layout_.part(b, rank), in_ + rank * width);
    }
  }
}

void ShardExchange::gather(float* whole, int64_t from_layer) {
  gather_buckets(whole, from_layer, [&](const ShardPart& part, const float* from) {
    std::memcpy(whole + part.offset, from, float_bytes(part.count));
  });
}

void ShardExchange::gather(const float* shard, float* whole) {
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    const ShardPart& own = layout_.part(b, ranks_.rank());
    std::memcpy(whole + own.offset, shard + own.local, float_bytes(own.count));
  }
  gather(whole);
}

bool ShardExchange::same(const float* whole) {
  bool same = true;
  gather_buckets(whole, 0, [&](const ShardPart& part, const float* from) {
    same = same && std::memcmp(whole + part.offset, from, float_bytes(part.count)) == 0;
  });
  return same;
}

std::vector<double> ShardExchange::gather_blocks(const std::vector<double>& own) {
  const auto size = size_t(layout_.ranks());
  int64_t width = 0;
  for (int rank = 0; rank < layout_.ranks(); ++rank) width = std::max(width, layout_.blocks(rank));
  std::vector<double> out(own), in(size_t(width) * size), blocks(size_t(layout_.blocks()));
  out.resize(size_t(width));
  ranks_.all_gather(stream_, {out.data(), DType::kF64, {width}}, {in.data(), DType::kF64, {width * int64_t(size)}});
  ranks_.wait(stream_);
  for (size_t rank = 0; rank < size; ++rank) {
    const double* from = in.data() + rank * size_t(width);
    for (size_t b = 0; b < layout_.buckets().size(); ++b) {
      const ShardPart& part = layout_.part(b, int(rank));
      std::copy_n(from, part.blocks, blocks.begin() + part.block);
      from += part.blocks;
    }
  }
  return blocks;
}

}  // namespace hone::trainer
