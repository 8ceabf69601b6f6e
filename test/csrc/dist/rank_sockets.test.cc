// RankSockets: ranks (here threads) connect to one another, while unknown peers connect too.
#include "dist/rank_sockets.h"

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <memory>
#include <thread>

#include "conformance.h"
#include "unknown_peers.h"

namespace dist_rank_sockets_test {

using namespace hone;
using namespace hone::test;

namespace {

using dist::RankSockets;
using Invitations = std::vector<RankSockets::Invitation>;
using Group = std::vector<std::unique_ptr<RankSockets>>;

Group group_of(int size) {
  Group group;
  for (int rank = 0; rank < size; ++rank) group.push_back(std::make_unique<RankSockets>("127.0.0.1", rank, size));
  return group;
}

Invitations invited(const Group& group, int rank) {
  Invitations out;
  for (const auto& each : group) out.push_back(each->invitation(rank));
  return out;
}

sockaddr_storage address_of(const RankSockets& rank) { return rank.invitation(0).address; }

std::string connects(const Group& group, int rank, milliseconds within = kPatient) {
  return outcome([&] { group[size_t(rank)]->connect(invited(group, rank), std::chrono::steady_clock::now() + within); });
}

/// Checks that what is written at either end of the connection arrives at the other end.
void expect_joined(const dist::Descriptor& one, const dist::Descriptor& other) {
  for (const auto& [from, to] : {std::pair(one.get(), other.get()), std::pair(other.get(), one.get())}) {
    EXPECT_EQ(write(from, &from, sizeof(from)), ssize_t(sizeof(from)));
    pollfd there{to, POLLIN, 0};
    poll(&there, 1, int(kPatient.count()));
    int heard = -1;
    EXPECT_EQ(read(to, &heard, sizeof(heard)), ssize_t(sizeof(heard)));
    EXPECT_EQ(heard, from);
  }
}

}  // namespace

TEST(each_gets_a_socket_to_each_other_which_no_program_inherits) {
  const Group group = group_of(4);
  std::vector<std::vector<dist::Descriptor>> sockets(4);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      sockets[size_t(rank)] = group[size_t(rank)]->connect(invited(group, rank), std::chrono::steady_clock::now() + kPatient);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t a = 0; a < 4; ++a) {
    EXPECT_TRUE(!sockets[a][a]);
    for (size_t b = 0; b < a; ++b) expect_joined(sockets[a][b], sockets[b][a]);
    for (const dist::Descriptor& each : sockets[a]) {
      if (!each) continue;
      int at_once = 0;
      socklen_t bytes = sizeof(at_once);
      getsockopt(each.get(), IPPROTO_TCP, TCP_NODELAY, &at_once, &bytes);
      EXPECT_TRUE(at_once != 0);
      EXPECT_TRUE(fcntl(each.get(), F_GETFD) & FD_CLOEXEC);
    }
    EXPECT_TRUE(!UnknownPeer(address_of(*group[a]), "", UnknownPeer::Then::kStays).connected());
  }
}

TEST(unknown_peers_before_and_meanwhile_are_closed_without_an_answer) {
  const Group group = group_of(2);
  std::vector<UnknownPeer> before = unknown_peers(address_of(*group[0])), amid;
  std::string said;
  std::thread waits([&] { said = connects(group, 0); });
  // rank 0 is running
  EXPECT_TRUE(UnknownPeer(address_of(*group[0]), std::string(32, 'x'), UnknownPeer::Then::kStays).is_let_go());
  amid = unknown_peers(address_of(*group[0]));
  EXPECT_EQ(connects(group, 1), std::string("ok"));
  waits.join();
  EXPECT_EQ(said, std::string("ok"));
  for (std::vector<UnknownPeer>* all : {&before, &amid}) {
    for (UnknownPeer& each : *all) EXPECT_TRUE(each.is_let_go());
  }
}

TEST(so_many_that_say_nothing_that_one_has_to_go_are_not_in_the_way) {
  const Group group = group_of(2);
  std::vector<UnknownPeer> silent;
  for (int n = 0; n < 100; ++n) silent.emplace_back(address_of(*group[0]), "", UnknownPeer::Then::kStays);
  std::string said;
  std::thread waits([&] { said = connects(group, 0); });
  EXPECT_TRUE(silent[0].is_let_go());
  EXPECT_EQ(connects(group, 1), std::string("ok"));
  waits.join();
  EXPECT_EQ(said, std::string("ok"));
}

TEST(who_says_the_secret_in_pieces_is_a_rank_and_who_says_it_again_is_not) {
  const Group group = group_of(3);
  const RankSockets::Secret& secret = group[0]->invitation(1).secret;
  std::string said;
  std::thread waits([&] { said = connects(group, 0); });
  UnknownPeer first(address_of(*group[0]), std::string(secret.data(), 5), UnknownPeer::Then::kStays);
  // rank 0 has read five bytes of the secret
  EXPECT_TRUE(UnknownPeer(address_of(*group[0]), std::string(32, 'x'), UnknownPeer::Then::kStays).is_let_go());
  first.says(std::string(secret.data() + 5, 27));
  const RankSockets::Secret& answer = group[1]->invitation(0).secret;
  EXPECT_EQ(first.hears(32), std::string(answer.data(), answer.size()));
  EXPECT_TRUE(UnknownPeer(address_of(*group[0]), std::string(secret.data(), 32), UnknownPeer::Then::kStays).is_let_go());
  EXPECT_EQ(connects(group, 2, kHasty), std::string("COLLECTIVE rank 2 of 3: connect: no answer in time from rank(s) 1."));
  waits.join();
  EXPECT_EQ(said, std::string("ok"));
}

TEST(who_does_not_come_in_time_is_named) {
  const Group group = group_of(3);
  EXPECT_EQ(connects(group, 1, kHasty), std::string("COLLECTIVE rank 1 of 3: connect: no answer in time from rank(s) 0, 2."));
  EXPECT_TRUE(has(connects(group, 1), "STATE connect: called before."));
  EXPECT_TRUE(!UnknownPeer(address_of(*group[1]), "", UnknownPeer::Then::kStays).connected());
}

TEST(who_is_gone_is_named_at_once) {
  Group group = group_of(2);
  const Invitations theirs = invited(group, 1);
  group[0].reset();
  EXPECT_EQ(outcome([&] { group[1]->connect(theirs, std::chrono::steady_clock::now() + kPatient * 10); }),
            std::string("COLLECTIVE rank 1 of 2: connect: rank 0 is gone (Connection refused)."));
}

TEST(a_rank_that_hangs_up_is_called_again_and_what_another_answers_is_no_answer) {
  const Group group = group_of(2);
  Invitations theirs = invited(group, 1);
  theirs[0].secret.fill('x');  // rank 0 treats it as an unknown peer each time
  std::string said;
  std::thread waits([&] { said = connects(group, 0, kHasty * 2); });
  const std::string end = outcome([&] { group[1]->connect(theirs, std::chrono::steady_clock::now() + kHasty); });
  EXPECT_EQ(end, std::string("COLLECTIVE rank 1 of 2: connect: no answer in time from rank(s) 0."));
  waits.join();
  EXPECT_EQ(said, std::string("COLLECTIVE rank 0 of 2: connect: no answer in time from rank(s) 1."));

  const Group again = group_of(2);
  theirs = invited(again, 0);
  theirs[1].secret.fill('x');
  std::thread answers([&] { outcome([&] { again[0]->connect(theirs, std::chrono::steady_clock::now() + kPatient); }); });
  EXPECT_TRUE(has(connects(again, 1, kHasty), "COLLECTIVE rank 1 of 2: connect: "));
  answers.join();
}

TEST(interrupted_it_ends_now_or_next_time) {
  for (const bool first : {true, false}) {
    const Group group = group_of(2);
    std::string said;
    std::thread waits([&] {
      if (!first) EXPECT_TRUE(UnknownPeer(address_of(*group[0]), std::string(32, 'x'), UnknownPeer::Then::kStays).is_let_go());
      group[0]->interrupt();
    });
    if (first) waits.join();
    EXPECT_EQ(connects(group, 0, kPatient * 10), std::string("ABORTED connect: interrupted."));
    if (!first) waits.join();
  }
}

TEST(a_host_that_is_not_one_address_of_this_machine_is_refused) {
  EXPECT_THROWS(RankSockets("192.0.2.1", 0, 2), Code::kIo);
  EXPECT_THROWS(RankSockets("no.such.host.invalid", 0, 2), Code::kIo);
  for (const char* every : {"0.0.0.0", "::"}) {
    EXPECT_TRUE(has(outcome([&] { RankSockets(every, 0, 2); }), "it stands for every address of this machine"));
  }
}

}  // namespace dist_rank_sockets_test
