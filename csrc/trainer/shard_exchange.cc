#include "trainer/shard_exchange.h"

#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "kernels/parts.h"

namespace hone::trainer {
namespace {

int64_t direction_bytes(const ShardLayout& layout) { return Arena::rounded(float_bytes(layout.widest() * layout.ranks())); }

}  // namespace

int64_t shard_exchange_bytes(const ShardLayout& layout) { return 2 * direction_bytes(layout); }

ShardExchange::ShardExchange(const Stream& stream, const ShardLayout& layout, dist::Communicator& ranks)
    : stream_(stream),
      layout_(layout),
      ranks_(ranks),
      memory_(shard_exchange_bytes(layout), "what ranks exchange", tensor_memory(stream)) {
  out_ = memory_.take_array<float>(layout.widest() * layout.ranks());
  in_ = memory_.take_array<float>(layout.widest() * layout.ranks());
  // initialises the padding of parts, which is sent too
  zero(stream_, out_, float_bytes(layout.widest() * layout.ranks()));
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
      copy(stream_, out_ + rank * width, gradients + (part.offset - offset), float_bytes(part.count));
    }
  }
  ranks_.all_to_all(stream_, f32(out_, {width * size}), f32(in_, {width * size}));
  ranks_.wait(stream_);
  const ShardPart& own = layout_.part(bucket, ranks_.rank());
  TensorView parts = f32(in_, {given, own.count});
  parts.row_stride = width;
  kernels::add_parts(stream_, {.parts = parts, .sum = f32(shard + own.local, {own.count})});
}

template <class Take>
void ShardExchange::gather_buckets(const float* whole, int64_t from_layer, const Take& take) {
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    if (layout_.buckets()[b].layer < from_layer) continue;
    const int64_t width = layout_.width(b);
    const ShardPart& own = layout_.part(b, ranks_.rank());
    copy(stream_, out_, whole + own.offset, float_bytes(own.count));
    ranks_.all_gather(stream_, f32(out_, {width}), f32(in_, {width * layout_.ranks()}));
    ranks_.wait(stream_);
    for (int rank = 0; rank < layout_.ranks(); ++rank) {
      if (rank != ranks_.rank()) take(layout_.part(b, rank), in_ + rank * width);
    }
  }
}

void ShardExchange::gather(float* whole, int64_t from_layer) {
  gather_buckets(whole, from_layer, [&](const ShardPart& part, const float* from) {
    copy(stream_, whole + part.offset, from, float_bytes(part.count));
  });
}

void ShardExchange::gather(const float* shard, float* whole) {
  for (size_t b = 0; b < layout_.buckets().size(); ++b) {
    const ShardPart& own = layout_.part(b, ranks_.rank());
    copy(stream_, whole + own.offset, shard + own.local, float_bytes(own.count));
  }
  gather(whole);
}

bool ShardExchange::same(const float* whole) {
  Arena room(2 * float_bytes(stream_.is_cuda() ? Arena::rounded(layout_.widest()) : 0), "weights to be compared");
  const auto on_host = [&](const float* x, int64_t count) {
    if (!stream_.is_cuda()) return x;
    float* const host = room.take_array<float>(count);
    download(stream_, host, x, float_bytes(count));
    return static_cast<const float*>(host);
  };
  bool same = true;
  gather_buckets(whole, 0, [&](const ShardPart& part, const float* from) {
    room.release(0);
    same = same && std::memcmp(on_host(whole + part.offset, part.count), on_host(from, part.count), size_t(float_bytes(part.count))) == 0;
  });
  return same;
}

std::vector<double> ShardExchange::gather_blocks(const std::vector<double>& own) {
  const auto size = size_t(layout_.ranks());
  int64_t width = 0;
  for (int rank = 0; rank < layout_.ranks(); ++rank) width = std::max(width, layout_.blocks(rank));
  std::vector<double> out(own), in(size_t(width) * size), blocks(size_t(layout_.blocks()));
  out.resize(size_t(width));
  ranks_.all_gather(Stream{}, {out.data(), DType::kF64, {width}}, {in.data(), DType::kF64, {width * int64_t(size)}});
  ranks_.wait(Stream{});
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
