// A team of ranks that share a micro-batch: they exchange rows for heads and back, and share their rows'
// results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/arena.h"
#include "dist/communicator.h"
#include "model/config.h"
#include "model/row_blocks.h"

namespace hone::trainer {

/// Throws kConfig if `sequence` is below 1 or does not divide the number of ranks, heads or key/value heads;
/// the message names that number. ranks: size of the whole group.
void check_sequence(const model::ModelConfig& model, int sequence, int ranks);

/// This rank's communication within its team (dist::Communicator::team_all_to_all). All data is in the
/// stream's memory. Every method except reserve, begin, settle and the getters is a collective of the team
/// and throws the communicator's errors. On the CPU a call has finished when it returns; on a GPU it runs in
/// stream order, and the host waits only in settle().
class SequenceRanks final : public model::HeadExchange {
 public:
  /// `ranks` must outlive this object.
  SequenceRanks(const Stream& stream, const model::ModelConfig& model, dist::Communicator& ranks, int team);

  int rank() const override { return ranks_.rank() % team_; }
  int ranks() const override { return team_; }
  int64_t tokens() const override { return tokens_; }
  /// The largest number of rows that a rank gets of a micro-batch of `tokens` tokens.
  int64_t rows(int64_t tokens) const { return (tokens + team_ - 1) / team_; }

  /// Reserves memory for micro-batches of `tokens` tokens. Throws kOutOfMemory, and then has reserved
  /// nothing.
  void reserve(int64_t tokens);
  /// Begins a micro-batch of `tokens` tokens, for which memory must be reserved.
  void begin(int64_t tokens) { tokens_ = tokens; }
  void to_heads(const Stream& stream, const TensorView& rows, const std::vector<int64_t>& widths, const TensorView& heads) override;
  void to_rows(const Stream& stream, const TensorView& heads, const std::vector<int64_t>& widths, const TensorView& rows) override;
  /// Each array has one number per row. Sends this rank's rows parts[rank()] and overwrites the rows of the
  /// other ranks.
  void share(const Stream& stream, const std::vector<model::RowRange>& parts, const std::vector<float*>& arrays);
  /// Returns when all exchanges have run on this rank, or throws after a time-out. Must be called before
  /// waiting for the stream itself, which would never return if a rank is lost.
  void settle(const Stream& stream) { ranks_.wait(stream); }

 private:
  void exchange(const Stream& stream, DType dtype, int64_t part);
  int64_t part_elements(const TensorView& heads) const;
  TensorView parts(std::byte* memory, const TensorView& heads, int64_t count) const;
  template <class Each>
  void for_parts(const TensorView& heads, std::byte* memory, const Each& each) const;

  Stream stream_;
  dist::Communicator& ranks_;
  int team_;
  int64_t width_;  // columns of the widest matrix that ranks exchange
  int64_t tokens_ = 0, reserved_ = 0;
  Arena memory_;
  std::byte *out_ = nullptr, *in_ = nullptr;
};

/// Bytes in the stream's memory of a SequenceRanks for micro-batches of `tokens` tokens.
int64_t sequence_ranks_bytes(const Stream& stream, const model::ModelConfig& model, int64_t tokens, int team);

}  // namespace hone::trainer
