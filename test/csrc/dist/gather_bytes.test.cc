// gather_bytes: messages of different lengths, including empty ones, reach every rank completely.
#include "dist/gather_bytes.h"

#include <cstring>

#include "check.h"
#include "dist/solo_communicator.h"

namespace dist_gather_bytes_test {
namespace {

using namespace hone;

/// A communicator for the last of three ranks, where the other two have already sent `first` and `second`.
class Third final : public dist::Communicator {
 public:
  Third(std::string first, std::string second) : said_{std::move(first), std::move(second)} {}
  int rank() const override { return 2; }
  int size() const override { return 3; }
  void broadcast(const Stream&, const TensorView&, int) override {}
  void all_reduce(const Stream&, const TensorView&, dist::ReduceOp) override {}
  void reduce_scatter(const Stream&, const TensorView&, const TensorView&, dist::ReduceOp) override {}
  void all_to_all(const Stream&, const TensorView&, const TensorView&) override {}
  void team_all_to_all(const Stream&, const TensorView&, const TensorView&, int) override {}
  void wait(const Stream&) override {}
  void close() override {}
  void abort(const std::string&) override {}
  void all_gather(const Stream&, const TensorView& source, const TensorView& to) override {
    const auto n = size_t(source.numel() * dtype_bytes(source.dtype));
    for (size_t rank = 0; rank < 2; ++rank) {
      const auto length = int64_t(said_[rank].size());
      const void* const from = source.dtype == DType::kI64 ? static_cast<const void*>(&length) : said_[rank].data();
      std::memcpy(to.as<char>() + rank * n, from, source.dtype == DType::kI64 ? n : size_t(length));
    }
    std::memcpy(to.as<char>() + 2 * n, source.data, n);
  }

 private:
  std::string said_[2];
};

TEST(messages_keep_their_lengths_and_their_ranks) {
  const std::string zeros("\0a\0", 3);
  Third ranks("", "longer than the others");
  const auto all = dist::gather_bytes(ranks, zeros);
  EXPECT_EQ(all.size(), size_t(3));
  EXPECT_TRUE(all[0].empty() && all[1] == "longer than the others" && all[2] == zeros);
}

TEST(nothing_from_anybody_is_nothing) {
  dist::SoloCommunicator alone;
  EXPECT_TRUE(dist::gather_bytes(alone, "").front().empty());
  EXPECT_EQ(dist::gather_bytes(alone, "x").front(), std::string("x"));
}

}  // namespace

}  // namespace dist_gather_bytes_test
