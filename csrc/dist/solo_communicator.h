// A group of one rank.
#pragma once

#include "dist/communicator.h"

namespace hone::dist {

/// Every collective is at most a copy, which has finished when the call returns. wait, close and abort do
/// nothing.
class SoloCommunicator final : public Communicator {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void broadcast(const Stream&, const TensorView&, int) override {}
  void all_reduce(const Stream&, const TensorView&, ReduceOp) override {}
  void reduce_scatter(const Stream& stream, const TensorView& source, const TensorView& destination, ReduceOp) override;
  void all_gather(const Stream& stream, const TensorView& source, const TensorView& destination) override;
  void all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination) override;
  void team_all_to_all(const Stream& stream, const TensorView& source, const TensorView& destination, int team) override;
  void wait(const Stream&) override {}
  void close() override {}
  void abort(const std::string&) override {}
};

}  // namespace hone::dist
