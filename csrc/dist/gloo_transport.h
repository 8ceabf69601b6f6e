// A transport between ranks over TCP, using Gloo.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "dist/gloo_library.h"
#include "dist/rank_sockets.h"
#include "dist/transport.h"

namespace hone::dist {

/// Connects in two steps: each rank prepares data (its address, and a secret without which it refuses
/// connections, see RankSockets), the caller transports the data to the other ranks, and each rank connects.
/// Nothing is encrypted.
class GlooTransport final : public Transport {
 public:
  /// Listens at `host`, a name or address of this machine that the other ranks can reach, until connect()
  /// ends. Throws kShape for a rank outside [0, size), kIo if `host` belongs to another machine.
  GlooTransport(std::shared_ptr<const GlooLibrary> library, const std::string& host, int rank, int size,
                std::chrono::milliseconds connect_timeout);
  ~GlooTransport() override;

  /// For each rank, the data it needs to connect to this rank; empty for this rank itself.
  std::vector<std::string> prepare() const;
  /// blobs[p]: what rank p prepared for this rank. Returns when all ranks are connected; call once. Throws
  /// kConfig for an invalid blob, kCollective if a rank does not connect within connect_timeout, kAborted
  /// after interrupt().
  void connect(const std::vector<std::string>& blobs);

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  void exchange(uint64_t tag, const Pieces& sends, const Pieces& receives, Deadline deadline) override;
  void interrupt() override;
  void leave() override;

 private:
  std::string header(int from, int to) const;
  std::vector<RankSockets::Invitation> invitations(const std::vector<std::string>& blobs) const;
  void expect(HoneGlooStatus status, const char* what, const HoneGlooText& why) const;

  std::shared_ptr<const GlooLibrary> library_;
  int rank_, size_;
  std::chrono::milliseconds connect_timeout_;
  RankSockets sockets_;
  HoneGlooGroup* group_ = nullptr;
};

}  // namespace hone::dist
