#include "dist/gloo_transport.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"

namespace hone::dist {
namespace {

int64_t milliseconds_until(Transport::Deadline deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max<int64_t>(left.count(), 1);
}

std::vector<HoneGlooPiece> c_pieces(const Transport::Pieces& pieces) {
  std::vector<HoneGlooPiece> out;
  for (const Transport::Piece& piece : pieces) out.push_back({piece.peer, piece.data, size_t(piece.bytes)});
  return out;
}

int checked_rank(int rank, int size) {
  if (size < 1 || rank < 0 || rank >= size) fail(Code::kShape, "communicator: rank %d of %d ranks.", rank, size);
  return rank;
}

}  // namespace

GlooTransport::GlooTransport(std::shared_ptr<const GlooLibrary> library, const std::string& host, int rank, int size,
                             std::chrono::milliseconds connect_timeout)
    : library_(std::move(library)), rank_(checked_rank(rank, size)), size_(size), connect_timeout_(connect_timeout), sockets_(host, rank, size) {
  HoneGlooText why{};
  group_ = library_->functions().create(rank, size, &why);
  if (!group_) fail(Code::kIo, "communicator: cannot begin (Gloo says: %s).", why.text);
}

GlooTransport::~GlooTransport() {
  leave();
  library_->functions().destroy(group_);
}

std::string GlooTransport::header(int from, int to) const {
  return "hone " + std::to_string(from) + " to " + std::to_string(to) + " of " + std::to_string(size_) + "\n";
}

std::vector<std::string> GlooTransport::prepare() const {
  std::vector<std::string> blobs(static_cast<size_t>(size_));
  for (int peer = 0; peer < size_; ++peer) {
    const RankSockets::Invitation& own = sockets_.invitation(peer);
    if (peer != rank_) blobs[size_t(peer)] = header(rank_, peer) + std::string(reinterpret_cast<const char*>(&own), sizeof(own));
  }
  return blobs;
}

void GlooTransport::connect(const std::vector<std::string>& blobs) {
  std::vector<Descriptor> sockets = sockets_.connect(invitations(blobs), std::chrono::steady_clock::now() + connect_timeout_);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    HoneGlooText why{};
    expect(library_->functions().take(group_, peer, sockets[size_t(peer)].release(), &why), "connect", why);
  }
}

std::vector<RankSockets::Invitation> GlooTransport::invitations(const std::vector<std::string>& blobs) const {
  if (int(blobs.size()) != size_) fail(Code::kConfig, "connect: %zu blobs for %d ranks.", blobs.size(), size_);
  std::vector<RankSockets::Invitation> out(blobs.size());
  for (int peer = 0; peer < size_; ++peer) {
    const std::string& blob = blobs[size_t(peer)];
    const std::string head = header(peer, rank_);
    if (peer == rank_) continue;
    if (blob.rfind(head, 0) != 0 || blob.size() != head.size() + sizeof(RankSockets::Invitation)) {
      fail(Code::kConfig, "connect: entry %d is not what rank %d prepared for rank %d of %d.", peer, peer, rank_, size_);
    }
    std::memcpy(&out[size_t(peer)], blob.data() + head.size(), sizeof(RankSockets::Invitation));
  }
  return out;
}

void GlooTransport::exchange(uint64_t tag, const Pieces& sends, const Pieces& receives, Deadline deadline) {
  HoneGlooText why{};
  const std::vector<HoneGlooPiece> out = c_pieces(sends), in = c_pieces(receives);
  expect(library_->functions().exchange(group_, tag, out.data(), out.size(), in.data(), in.size(), milliseconds_until(deadline), &why),
         "exchange", why);
}

void GlooTransport::expect(HoneGlooStatus status, const char* what, const HoneGlooText& why) const {
  switch (status) {
    case kHoneGlooOk: return;
    case kHoneGlooInterrupted: fail(Code::kAborted, "%s: interrupted.", what);
    case kHoneGlooLost: fail(Code::kCollective, "rank %d of %d: %s: a rank is gone (Gloo says: %s).", rank_, size_, what, why.text);
    case kHoneGlooLate: fail(Code::kCollective, "rank %d of %d: %s: no answer in time (Gloo says: %s).", rank_, size_, what, why.text);
    default: fail(Code::kInternal, "rank %d of %d: %s: Gloo says: %s.", rank_, size_, what, why.text);
  }
}

void GlooTransport::interrupt() {
  sockets_.interrupt();
  library_->functions().interrupt(group_);
}
void GlooTransport::leave() { library_->functions().leave(group_); }

}  // namespace hone::dist
