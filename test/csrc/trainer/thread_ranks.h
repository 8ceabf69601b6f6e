// Ranks as threads of one process.
#pragma once

#include <barrier>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/error.h"
#include "dist/communicator.h"

namespace hone::test {

struct Meeting {
  explicit Meeting(int n) : barrier(n), from(size_t(n)) {}
  std::barrier<> barrier;
  std::vector<TensorView> from;
};

class ThreadCommunicator final : public dist::Communicator {
 public:
  ThreadCommunicator(Meeting& meeting, int rank) : meeting_(meeting), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return int(meeting_.from.size()); }
  void broadcast(const Stream&, const TensorView& buffer, int root) override {
    meet(buffer, [&] {
      if (rank_ != root) std::memcpy(buffer.data, meeting_.from[size_t(root)].data, bytes(buffer));
    });
  }
  void all_reduce(const Stream&, const TensorView&, dist::ReduceOp) override { fail(Code::kInternal, "not here"); }
  void reduce_scatter(const Stream&, const TensorView&, const TensorView&, dist::ReduceOp) override { fail(Code::kInternal, "not here"); }
  void all_gather(const Stream&, const TensorView& source, const TensorView& to) override {
    meet(source, [&] {
      for (size_t r = 0; r < meeting_.from.size(); ++r) std::memcpy(to.as<std::byte>() + r * bytes(source), meeting_.from[r].data, bytes(source));
    });
  }
  void all_to_all(const Stream&, const TensorView& source, const TensorView& to) override {
    const size_t part = bytes(source) / meeting_.from.size();
    meet(source, [&] {
      for (size_t r = 0; r < meeting_.from.size(); ++r) {
        std::memcpy(to.as<std::byte>() + r * part, meeting_.from[r].as<std::byte>() + size_t(rank_) * part, part);
      }
    });
  }
  void wait(const Stream&) override {}
  void close() override {}
  void abort(const std::string&) override {}

 private:
  static size_t bytes(const TensorView& view) { return size_t(view.numel() * dtype_bytes(view.dtype)); }
  void meet(const TensorView& own, const std::function<void()>& take) {
    meeting_.from[size_t(rank_)] = own;
    meeting_.barrier.arrive_and_wait();
    take();
    meeting_.barrier.arrive_and_wait();
  }
  Meeting& meeting_;
  int rank_;
};

inline std::vector<std::string> on_ranks(int size, const std::function<void(dist::Communicator&)>& body) {
  Meeting meeting(size);
  std::vector<std::string> said(static_cast<size_t>(size), "ok");
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ThreadCommunicator group(meeting, rank);
      try {
        body(group);
      } catch (const Error& error) {
        said[size_t(rank)] = std::string(code_name(error.code())) + " " + error.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

}  // namespace hone::test
