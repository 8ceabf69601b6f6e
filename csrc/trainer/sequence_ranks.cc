#include "trainer/sequence_ranks.h"

#include <algorithm>

#include "core/device.h"
#include "kernels/columns.h"
#include "trainer/shard_layout.h"

namespace hone::trainer {
namespace {

void check_divides(int sequence, int64_t count, const char* what) {
  if (count % sequence == 0) return;
  fail(Code::kConfig, "trainer: sharding.sequence is %d, which does not divide the %lld %s. Each rank has as many of them as another.",
       sequence, (long long)count, what);
}

/// Bytes of the buffer for one direction: one part per rank, each with the rows of the longest part. share()
/// needs less: two numbers per row for every rank, and each rank has at least three heads.
int64_t direction_bytes(const Stream& stream, int64_t width, int64_t tokens, int team) {
  const int64_t rows = (tokens + team - 1) / team;
  return Arena::rounded(rows * width * dtype_bytes(activation_dtype(stream)));
}

}  // namespace

void check_sequence(const model::ModelConfig& model, int sequence, int ranks) {
  if (sequence < 1) fail(Code::kConfig, "trainer: sharding.sequence is %d; it must be at least 1.", sequence);
  check_divides(sequence, model.heads, "query heads of the model");
  check_divides(sequence, model.kv_heads, "key/value heads of the model");
  if (ranks > 1) check_divides(sequence, ranks, "ranks");
}

int64_t sequence_ranks_bytes(const Stream& stream, const model::ModelConfig& model, int64_t tokens, int team) {
  return 2 * direction_bytes(stream, model.qkv_width(), tokens, team);
}

SequenceRanks::SequenceRanks(const Stream& stream, const model::ModelConfig& model, dist::Communicator& ranks, int team)
    : stream_(stream), ranks_(ranks), team_(team), width_(model.qkv_width()) {}

void SequenceRanks::reserve(int64_t tokens) {
  if (tokens <= reserved_) return;
  memory_ = Arena();  // releases the old block first
  reserved_ = 0;
  const int64_t bytes = direction_bytes(stream_, width_, tokens, team_);
  memory_ = Arena(2 * bytes, "what ranks exchange of a micro-batch", tensor_memory(stream_));
  out_ = memory_.take_array<std::byte>(bytes);
  in_ = memory_.take_array<std::byte>(bytes);
  zero(stream_, out_, bytes);  // initialises the padding of parts, which is sent too
  reserved_ = tokens;
}

/// Exchanges parts between the ranks of a team. On a GPU the stream orders writing, sending and reading, and
/// the host does not wait.
void SequenceRanks::exchange(const Stream& stream, DType dtype, int64_t part) {
  const int64_t n = part * team_;
  ranks_.team_all_to_all(stream, {out_, dtype, {n}}, {in_, dtype, {n}}, team_);
  if (!stream.is_cuda()) ranks_.wait(stream);
}

int64_t SequenceRanks::part_elements(const TensorView& heads) const { return rows(tokens_) * heads.dim(1); }

/// A view of the first `count` rows of every rank's part.
TensorView SequenceRanks::parts(std::byte* memory, const TensorView& heads, int64_t count) const {
  TensorView view(memory, heads.dtype, {team_, count * heads.dim(1)});
  view.row_stride = part_elements(heads);
  return view;
}

void SequenceRanks::to_heads(const Stream& stream, const TensorView& own, const std::vector<int64_t>& widths, const TensorView& heads) {
  kernels::split_columns(stream, {.whole = own, .widths = widths, .parts = parts(out_, heads, own.dim(0))});
  exchange(stream, heads.dtype, part_elements(heads));
  for_parts(heads, in_, [&](std::byte* rows, std::byte* part, int64_t bytes) { copy(stream, rows, part, bytes); });
}

void SequenceRanks::to_rows(const Stream& stream, const TensorView& heads, const std::vector<int64_t>& widths, const TensorView& own) {
  for_parts(heads, out_, [&](std::byte* rows, std::byte* part, int64_t bytes) { copy(stream, part, rows, bytes); });
  exchange(stream, heads.dtype, part_elements(heads));
  kernels::join_columns(stream, {.whole = own, .widths = widths, .parts = parts(in_, heads, own.dim(0))});
}

template <class Each>
void SequenceRanks::for_parts(const TensorView& heads, std::byte* memory, const Each& each) const {
  const int64_t part = part_elements(heads) * dtype_bytes(heads.dtype);
  for (int64_t p = 0; p < team_; ++p) {
    const TensorView of = model::rows_of(heads, model::part_of(tokens_, p, team_));
    each(of.as<std::byte>(), memory + p * part, of.numel() * dtype_bytes(of.dtype));
  }
}

void SequenceRanks::share(const Stream& stream, const std::vector<model::RowRange>& of_ranks, const std::vector<float*>& arrays) {
  int64_t longest = 0;
  for (const model::RowRange& of : of_ranks) longest = std::max(longest, of.count);
  const int64_t part = longest * int64_t(arrays.size());
  const model::RowRange& own = of_ranks[size_t(rank())];
  float *to = reinterpret_cast<float*>(out_), *from = reinterpret_cast<float*>(in_);
  for (int64_t p = 0; p < team_; ++p) {
    for (const float* array : arrays) copy(stream, to, array + own.first, float_bytes(own.count)), to += longest;
  }
  exchange(stream, DType::kF32, part);
  for (const model::RowRange& of : of_ranks) {
    for (float* array : arrays) copy(stream, array + of.first, from, float_bytes(of.count)), from += longest;
  }
}

}  // namespace hone::trainer
