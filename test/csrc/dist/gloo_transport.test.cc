// The conformance tests over processes and TCP, and processes that are killed or stopped. These tests fork,
// so no thread may be started before them.
#include "dist/gloo_transport.h"

#include "gloo_ranks.h"
#include "unknown_peers.h"

namespace dist_gloo_transport_test {

using namespace hone;
using namespace hone::test;

#ifdef HONE_GLOO_LIBRARY

namespace {

/// What three ranks report when rank 1's process is killed after the time `after`, between or within
/// collectives of n numbers.
std::vector<std::string> killed(milliseconds after, milliseconds timeout, int64_t n) {
  return gloo_processes(3, timeout, [&](dist::Communicator& group, int rank) {
    std::vector<float> x(static_cast<size_t>(n), 1.0f);
    check_collectives(group, 3);
    std::thread killer;
    if (rank == 1) {
      killer = std::thread([after] {
        std::this_thread::sleep_for(after);
        raise(SIGKILL);
      });
    }
    const std::string end = outcome([&] {
      while (true) {
        group.all_reduce({}, view(x), dist::ReduceOp::kMax);
        group.wait({});
      }
    });
    if (killer.joinable()) killer.join();
    fail(Code::kCollective, "%s", end.c_str());
  });
}

/// The address at which the rank that prepared `blob` listens.
sockaddr_storage address_in(const std::string& blob) {
  sockaddr_storage address;
  std::memcpy(&address, blob.data() + blob.find('\n') + 1, sizeof(address));
  return address;
}

/// What rank 0 of two reports when the other rank connects correctly and then sends `bytes`, which no rank
/// would send.
std::string told(const std::string& bytes) {
  const auto said = processes(2, [&](int rank) {
    if (rank == 0) {
      const auto transport = std::make_shared<std::unique_ptr<dist::GlooTransport>>(gloo_transport(0, 2));
      return ProcessRank{[=] { return (*transport)->prepare(); }, [=](const std::vector<std::string>& prepared) {
                           return outcome([&] {
                             (*transport)->connect(prepared);
                             dist::HostCommunicator group(std::move(*transport), kPatient * 10);
                             check_collectives(group, 3);
                           });
                         }};
    }
    const auto sockets = std::make_shared<dist::RankSockets>("127.0.0.1", 1, 2);
    const auto prepare = [=]() -> std::vector<std::string> {
      const std::string own(reinterpret_cast<const char*>(&sockets->invitation(0)), sizeof(dist::RankSockets::Invitation));
      return {"hone 1 to 0 of 2\n" + own, ""};
    };
    return ProcessRank{prepare, [=](const std::vector<std::string>& prepared) {
                         std::vector<dist::RankSockets::Invitation> theirs(2);
                         std::memcpy(&theirs[0], prepared[0].data() + prepared[0].find('\n') + 1, sizeof(theirs[0]));
                         const auto reached = sockets->connect(theirs, std::chrono::steady_clock::now() + kPatient);
                         EXPECT_EQ(write(reached[0].get(), bytes.data(), bytes.size()), ssize_t(bytes.size()));
                         // until rank 0 closes the connection
                         for (char word; read(reached[0].get(), &word, 1) != 0;) {
                           if (errno != EAGAIN) break;
                           usleep(1000);
                         }
                         return std::string("ok");
                       }};
  });
  return said[0];
}

}  // namespace

CONFORMANCE(gloo_processes)

TEST(a_process_that_is_killed_shows_at_the_others_long_before_the_time_out) {
  const std::pair<int64_t, int> when[] = {{16, 30}, {4 << 20, 30}, {4 << 20, 45}, {4 << 20, 60}, {4 << 20, 75}};
  for (const auto& [n, after] : when) {  // n: numbers in a collective; after: milliseconds
    const auto start = std::chrono::steady_clock::now();
    const auto said = killed(milliseconds(after), kPatient * 10, n);
    EXPECT_TRUE(std::chrono::steady_clock::now() - start < kPatient * 10);
    EXPECT_EQ(said[1], std::string("killed by signal 9"));
    for (int rank : {0, 2}) EXPECT_TRUE(has(said[size_t(rank)], "COLLECTIVE rank ") && has(said[size_t(rank)], "is gone"));
  }
}

TEST(a_process_that_stops_is_given_up_at_the_time_out_and_learns_of_it_when_it_goes_on) {
  // A sibling does not know the stopped process's id, so a child of that process wakes it once the other
  // ranks have given up.
  const Word given_up[2];
  const auto said = gloo_processes(3, kHasty * 3, [&](dist::Communicator& group, int rank) {
    std::vector<float> x(64, 1.0f);
    check_collectives(group, 3);
    if (rank == 1) {
      const pid_t self = getpid();
      if (fork() == 0) {
        for (const Word& each : given_up) each.await();
        kill(self, SIGCONT);
        _exit(0);
      }
      raise(SIGSTOP);
    }
    const std::string end = outcome([&] {
      group.all_reduce({}, view(x), dist::ReduceOp::kMax);
      group.wait({});
    });
    if (rank != 1) given_up[rank / 2].say();
    fail(Code::kCollective, "%s", end.c_str());
  });
  for (const std::string& text : said) EXPECT_EQ(text.rfind("COLLECTIVE COLLECTIVE ", 0), size_t(0));
  EXPECT_TRUE(has(said[0] + said[2], "in time"));
}

TEST(unknown_peers_neither_end_a_rank_nor_take_the_place_of_one) {
  const Word met[2];
  const auto said = processes(3, [&](int rank) {
    const auto transport = std::make_shared<std::unique_ptr<dist::GlooTransport>>(gloo_transport(rank, 3));
    return ProcessRank{[=] { return (*transport)->prepare(); }, [=, &met](const std::vector<std::string>& prepared) {
                         const sockaddr_storage own = address_in((*transport)->prepare()[rank == 0 ? 1 : 0]);
                         const auto before = unknown_peers(own);
                         // unknown peers connect while rank 2 keeps the others waiting
                         std::thread amid([&] {
                           if (rank == 2) return;
                           for (int round = 0; round < 4; ++round) unknown_peers(own);
                           met[rank].say();
                         });
                         if (rank == 2) {
                           for (const Word& each : met) each.await();
                         }
                         const std::string end = outcome([&] {
                           (*transport)->connect(prepared);
                           dist::HostCommunicator group(std::move(*transport), kPatient);
                           check_collectives(group, 3);
                           for (const UnknownPeer& after : unknown_peers(own)) EXPECT_TRUE(!after.connected());
                           check_collectives(group, 3);
                         });
                         amid.join();
                         return end;
                       }};
  });
  expect_all(said, "ok");
}

TEST(what_a_rank_cannot_have_sent_ends_the_connection_and_no_process) {
  const uint64_t no_such_message[6] = {56, 1, 7, 0, 8, 0};  // a message for a receiver that does not exist
  const std::string said = told(std::string(reinterpret_cast<const char*>(no_such_message), sizeof(no_such_message)));
  EXPECT_TRUE(has(said, "COLLECTIVE rank 0 of 2: ") && has(said, "is gone"));
}

TEST(sockets_are_closed_in_programs_that_a_rank_starts) {
  // Otherwise a rank that has ended would seem alive as long as its child runs.
  const auto said = gloo_processes(2, kPatient * 10, [](dist::Communicator& group, int rank) {
    std::vector<float> x(64, 1.0f);
    check_collectives(group, 3);
    if (rank == 1) {
      EXPECT_EQ(std::system("sleep 60 > /dev/null 2>&1 &"), 0);
      raise(SIGKILL);
    }
    const auto start = std::chrono::steady_clock::now();
    EXPECT_THROWS((group.all_reduce({}, view(x), dist::ReduceOp::kMax), group.wait({})), Code::kCollective);
    EXPECT_TRUE(std::chrono::steady_clock::now() - start < std::chrono::seconds(50));
  });
  EXPECT_EQ(said[0], std::string("ok"));
}

TEST(a_rank_that_never_connects_is_given_up_in_time) {
  const auto first = gloo_transport(0, 2, kHasty), second = gloo_transport(1, 2);
  EXPECT_EQ(outcome([&] { first->connect({"", second->prepare()[0]}); }),
            std::string("COLLECTIVE rank 0 of 2: connect: no answer in time from rank(s) 1."));
}

TEST(what_was_prepared_for_another_is_refused) {
  const auto first = gloo_transport(0, 3), second = gloo_transport(1, 3), third = gloo_transport(2, 3);
  const auto b = second->prepare(), c = third->prepare();
  EXPECT_TRUE(has(outcome([&] { first->connect({"", b[0]}); }), "CONFIG connect: 2 blobs for 3 ranks."));
  EXPECT_TRUE(has(outcome([&] { first->connect({"", c[0], b[0]}); }),
                  "CONFIG connect: entry 1 is not what rank 1 prepared for rank 0 of 3."));
  EXPECT_THROWS(first->connect({"", b[2], c[0]}), Code::kConfig);
  EXPECT_THROWS(first->connect({"", b[0].substr(0, b[0].size() - 1), c[0]}), Code::kConfig);
  EXPECT_THROWS(first->connect({"", "", c[0]}), Code::kConfig);
}

TEST(a_rank_beyond_the_group_and_a_host_elsewhere_are_refused) {
  const auto library = dist::GlooLibrary::open(kGlooLibrary);
  EXPECT_THROWS(dist::GlooTransport(library, "127.0.0.1", 2, 2, kHasty), Code::kShape);
  EXPECT_THROWS(dist::GlooTransport(library, "127.0.0.1", 0, 0, kHasty), Code::kShape);
  EXPECT_THROWS(dist::GlooTransport(library, "192.0.2.1", 0, 2, kHasty), Code::kIo);
}

#else

TEST(gloo) { SKIP("no libgloo-dev"); }

#endif

}  // namespace dist_gloo_transport_test
