// HostQueue: jobs run in order; how a job that throws is reported; when the transport leaves the group.
#include "dist/host_queue.h"

#include <atomic>
#include <new>

#include "outcomes.h"

namespace dist_host_queue_test {

using namespace hone;
using namespace hone::dist;
using namespace hone::test;

namespace {

struct Recorded final : Transport {
  std::atomic<int> left{0};
  std::atomic<bool> interrupted{false};
  int rank() const override { return 0; }
  int size() const override { return 1; }
  void exchange(uint64_t, const Pieces&, const Pieces&, Deadline) override {}
  void interrupt() override { interrupted = true; }
  void leave() override { ++left; }
};

const HostQueue::Job nothing = [] {};
const HostQueue::Job failing = [] { fail(Code::kCollective, "rank 1 is gone."); };

}  // namespace

TEST(jobs_run_in_order_by_a_thread_of_their_own) {
  Recorded transport;
  HostQueue queue(transport);
  std::vector<int> order;
  const std::thread::id here = std::this_thread::get_id();
  for (int k : {1, 2, 3}) {
    queue.submit("job", [&order, k, here] { order.push_back(std::this_thread::get_id() == here ? -1 : k); });
  }
  queue.wait();
  EXPECT_TRUE(order == std::vector<int>({1, 2, 3}));
  queue.submit("job", [&order] { order.push_back(4); });
  queue.close([&order] { order.push_back(5); });
  EXPECT_TRUE(order == std::vector<int>({1, 2, 3, 4, 5}));
  EXPECT_TRUE(queue.state() == State::kClosed && transport.left == 1 && !transport.interrupted);
}

TEST(a_failure_is_told_once_drops_what_follows_and_leaves_at_once) {
  Recorded transport;
  HostQueue queue(transport);
  bool ran = false;
  const std::string end = outcome([&] {
    queue.submit("job", failing);
    queue.submit("job", [&] { ran = true; });
    queue.wait();
  });
  EXPECT_EQ(end, std::string("COLLECTIVE rank 1 is gone."));
  EXPECT_TRUE(!ran && transport.left == 1 && queue.state() == State::kFailed);
  EXPECT_EQ(outcome([&] { queue.wait(); }),
            std::string("STATE wait: the communicator is failed, not ready: rank 1 is gone."));
  queue.abort("too late");
  EXPECT_TRUE(queue.state() == State::kFailed);
  queue.close(nothing);
  EXPECT_TRUE(queue.state() == State::kClosed);
}

TEST(a_job_without_memory_is_a_failure_and_not_the_end_of_the_process) {
  Recorded transport;
  HostQueue queue(transport);
  queue.submit("job", [] { throw std::bad_alloc(); });
  EXPECT_EQ(outcome([&] { queue.wait(); }), std::string("OUT_OF_MEMORY a collective could not allocate memory."));
  EXPECT_TRUE(transport.left == 1 && queue.state() == State::kFailed);
}

TEST(closing_tells_what_nobody_was_told) {
  Recorded transport;
  HostQueue queue(transport);
  queue.submit("job", failing);
  EXPECT_THROWS(queue.close(nothing), Code::kCollective);
  queue.close(nothing);
}

TEST(an_abort_waits_for_the_job_that_runs_before_it_lets_anybody_go) {
  Recorded transport;
  HostQueue queue(transport);
  std::atomic<bool> begun{false}, done{false};
  queue.submit("job", [&] {
    begun = true;
    while (!transport.interrupted) std::this_thread::yield();
    EXPECT_EQ(transport.left.load(), 0);  // not left, because the job may still read and write
    done = true;
    fail(Code::kAborted, "interrupted");
  });
  std::thread other([&] {
    while (!begun) std::this_thread::yield();
    queue.abort("a signal came");
  });
  EXPECT_TRUE(has(outcome([&] { queue.wait(); }), "a signal came"));
  EXPECT_TRUE(done.load());
  other.join();
  EXPECT_TRUE(queue.state() == State::kAborted && transport.left >= 1);
}

TEST(an_abort_while_nothing_runs_leaves_too) {
  Recorded transport;
  HostQueue queue(transport);
  queue.abort("enough");
  EXPECT_EQ(transport.left.load(), 1);
  EXPECT_THROWS(queue.submit("job", nothing), Code::kAborted);
}

}  // namespace dist_host_queue_test
