// Peers that connect to a rank's port but do not belong to its group.
#pragma once

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "check.h"

namespace hone::test {

/// A peer such as a port scanner, a health probe or a browser: sends `says`, then stays connected or
/// disconnects, as `then` says.
class UnknownPeer {
 public:
  enum class Then { kStays, kLeaves, kResets };

  UnknownPeer(const sockaddr_storage& rank, const std::string& says, Then then)
      : socket_(socket(rank.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)),
        connected_(connect(socket_, reinterpret_cast<const sockaddr*>(&rank), sizeof(sockaddr_in)) == 0) {
    if (connected_) this->says(says);
    if (then != Then::kStays) leave(then == Then::kResets);
  }
  UnknownPeer(UnknownPeer&& other) : socket_(std::exchange(other.socket_, -1)), connected_(other.connected_) {}
  ~UnknownPeer() { leave(false); }

  bool connected() const { return connected_; }
  void says(const std::string& words) { send(socket_, words.data(), words.size(), MSG_NOSIGNAL); }
  /// Receives that many bytes, or fewer if the connection ends.
  std::string hears(size_t bytes) {
    std::string words(bytes, '\0');
    return words.substr(0, size_t(std::max<ssize_t>(recv(socket_, words.data(), bytes, MSG_WAITALL), 0)));
  }
  /// Waits for a byte or the end of the connection; returns whether it ended.
  bool is_let_go() { return hears(1).empty(); }

 private:
  void leave(bool reset) {
    if (socket_ < 0) return;
    const linger at_once{1, 0};
    if (reset) setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(std::exchange(socket_, -1));
  }

  int socket_;
  bool connected_;
};

/// One peer of each kind. Peers that stay connected do so as long as the result exists.
inline std::vector<UnknownPeer> unknown_peers(const sockaddr_storage& rank) {
  // Header of a Gloo message: total bytes, kind (0: for a buffer, 1: for a buffer without a number), slot ...
  const uint64_t to_a_buffer[6] = {48, 0, 7, 0, 8, 0}, to_one_without[6] = {56, 1, 7, 0, 8, 0};
  const auto bytes = [](const uint64_t (&words)[6]) { return std::string(reinterpret_cast<const char*>(words), sizeof(words)); };
  const std::string said[] = {"", "12345678", "GET / HTTP/1.1\r\nHost: rank\r\n\r\n", std::string(4096, '\xff'),
                              std::string(4096, '\0'), bytes(to_a_buffer), bytes(to_one_without)};
  std::vector<UnknownPeer> all;
  for (const std::string& text : said) {
    for (const auto then : {UnknownPeer::Then::kStays, UnknownPeer::Then::kLeaves, UnknownPeer::Then::kResets}) {
      all.emplace_back(rank, text, then);
    }
  }
  return all;
}

}  // namespace hone::test
