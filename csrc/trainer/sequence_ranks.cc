#include "trainer/sequence_ranks.h"

#include <algorithm>
#include <cstring>

namespace hone::trainer {
namespace {

constexpr int64_t kRowGrain = 256;  // rows that one thread copies at least

void check_divides(int sequence, int64_t count, const char* what) {
  if (count % sequence == 0) return;
  fail(Code::kConfig, "trainer: sharding.sequence is %d, which does not divide the %lld %s. Each rank has as many of them as another.",
       sequence, (long long)count, what);
}

/// Floats of either direction: parts of as many rows as the longest has.
int64_t floats_of(int64_t width, int64_t tokens, int team) {
  const int64_t rows = (tokens + team - 1) / team;
  return std::max<int64_t>(rows * width, 2 * rows * team);  // share: two numbers a row, to every rank
}

int64_t direction_bytes(int64_t width, int64_t tokens, int team) {
  return Arena::rounded(floats_of(width, tokens, team) * int64_t(sizeof(float)));
}

/// Copies of every group of columns the part of rank `p`, between a matrix of all columns and one of that part alone.
struct Columns {
  const std::vector<int64_t>& widths;
  int64_t share, width;  // ranks; columns of one rank's part
  Columns(const std::vector<int64_t>& of, int64_t ranks) : widths(of), share(ranks), width(0) {
    for (const int64_t group : of) width += group / ranks;
  }
  void pick(const float* whole, int64_t p, float* part) const {
    for (const int64_t group : widths) {
      const int64_t n = group / share;
      std::memcpy(part, whole + p * n, size_t(n) * sizeof(float));
      whole += group, part += n;
    }
  }
  void put(const float* part, int64_t p, float* whole) const {
    for (const int64_t group : widths) {
      const int64_t n = group / share;
      std::memcpy(whole + p * n, part, size_t(n) * sizeof(float));
      whole += group, part += n;
    }
  }
};

template <class Copy>
void for_rows(const Stream& stream, int64_t rows, const Copy& copy) {
  stream.parallel_for(rows, kRowGrain, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) copy(row);
  });
}

}  // namespace

void check_sequence(const model::ModelConfig& model, int sequence, int ranks) {
  if (sequence < 1) fail(Code::kConfig, "trainer: sharding.sequence is %d; it must be at least 1.", sequence);
  check_divides(sequence, model.heads, "query heads of the model");
  check_divides(sequence, model.kv_heads, "key/value heads of the model");
  if (ranks > 1) check_divides(sequence, ranks, "ranks");
}

int64_t sequence_ranks_bytes(const model::ModelConfig& model, int64_t tokens, int team) {
  return 2 * direction_bytes(model.qkv_width(), tokens, team);
}

SequenceRanks::SequenceRanks(const model::ModelConfig& model, dist::Communicator& ranks, int team)
    : ranks_(ranks), team_(team), width_(model.qkv_width()) {}

void SequenceRanks::reserve(int64_t tokens) {
  if (tokens <= reserved_) return;
  memory_ = Arena();  // give the old block back first
  reserved_ = 0;
  memory_ = Arena(2 * direction_bytes(width_, tokens, team_), "what ranks exchange of a micro-batch");
  const int64_t floats = floats_of(width_, tokens, team_);
  out_ = memory_.take_array<float>(floats);
  in_ = memory_.take_array<float>(floats);
  std::fill_n(out_, floats, 0.0f);  // what pads a part is sent, too
  reserved_ = tokens;
}

void SequenceRanks::exchange(const Stream& stream, int64_t part) {
  const int64_t n = part * team_;
  ranks_.team_all_to_all(stream, f32(out_, {n}), f32(in_, {n}), team_);
  ranks_.wait(stream);
}

void SequenceRanks::to_heads(const Stream& stream, const TensorView& own, const std::vector<int64_t>& widths, const TensorView& heads) {
  const Columns columns(widths, team_);
  const int64_t part = rows(tokens_) * columns.width;
  for (int64_t p = 0; p < team_; ++p) {
    for_rows(stream, own.dim(0), [&](int64_t row) { columns.pick(own.row<float>(row), p, out_ + p * part + row * columns.width); });
  }
  exchange(stream, part);
  for (int64_t p = 0; p < team_; ++p) {
    const model::RowRange of = model::part_of(tokens_, p, team_);
    std::memcpy(heads.row<float>(of.first), in_ + p * part, size_t(of.count * columns.width) * sizeof(float));
  }
}

void SequenceRanks::to_rows(const Stream& stream, const TensorView& heads, const std::vector<int64_t>& widths, const TensorView& own) {
  const Columns columns(widths, team_);
  const int64_t part = rows(tokens_) * columns.width;
  for (int64_t p = 0; p < team_; ++p) {
    const model::RowRange of = model::part_of(tokens_, p, team_);
    std::memcpy(out_ + p * part, heads.row<float>(of.first), size_t(of.count * columns.width) * sizeof(float));
  }
  exchange(stream, part);
  for (int64_t p = 0; p < team_; ++p) {
    for_rows(stream, own.dim(0), [&](int64_t row) { columns.put(in_ + p * part + row * columns.width, p, own.row<float>(row)); });
  }
}

void SequenceRanks::share(const Stream& stream, const std::vector<model::RowRange>& parts, const std::vector<float*>& arrays) {
  int64_t longest = 0;
  for (const model::RowRange& of : parts) longest = std::max(longest, of.count);
  const int64_t part = longest * int64_t(arrays.size());
  const model::RowRange& own = parts[size_t(rank())];
  for (int64_t p = 0; p < team_; ++p) {
    float* to = out_ + p * part;
    for (const float* array : arrays) std::copy_n(array + own.first, own.count, to), to += longest;
  }
  exchange(stream, part);
  for (int64_t p = 0; p < team_; ++p) {
    const float* from = in_ + p * part;
    const model::RowRange& of = parts[size_t(p)];
    for (float* array : arrays) std::copy_n(from, of.count, array + of.first), from += longest;
  }
}

}  // namespace hone::trainer
