#include "dist/gloo_transport.h"

#include <algorithm>

#include "core/error.h"

namespace hone::dist {
namespace {

constexpr size_t kAddressBytes = 512;  // Gloo's are at most 192

int64_t milliseconds_until(Transport::Deadline deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  return std::max<int64_t>(left.count(), 1);
}

std::vector<HoneGlooPiece> c_pieces(const Transport::Pieces& pieces) {
  std::vector<HoneGlooPiece> out;
  for (const Transport::Piece& piece : pieces) out.push_back({piece.peer, piece.data, size_t(piece.bytes)});
  return out;
}

}  // namespace

GlooTransport::GlooTransport(std::shared_ptr<const GlooLibrary> library, const std::string& host, int rank, int size,
                             std::chrono::milliseconds connect_timeout)
    : library_(std::move(library)), rank_(rank), size_(size), connect_timeout_(connect_timeout) {
  if (size < 1 || rank < 0 || rank >= size) fail(Code::kShape, "communicator: rank %d of %d ranks.", rank, size);
  HoneGlooText why{};
  group_ = library_->functions().create(host.c_str(), rank, size, connect_timeout.count(), &why);
  if (!group_) fail(Code::kIo, "communicator: cannot listen at host \"%s\": %s.", host.c_str(), why.text);
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
    if (peer == rank_) continue;
    std::string address(kAddressBytes, '\0');
    address.resize(library_->functions().address(group_, peer, address.data(), address.size()));
    if (address.empty()) fail(Code::kInternal, "prepare: an address of Gloo is longer than %zu bytes.", kAddressBytes);
    blobs[size_t(peer)] = header(rank_, peer) + address;
  }
  return blobs;
}

void GlooTransport::connect(const std::vector<std::string>& blobs) {
  check_blobs(blobs);
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    const std::string address = blobs[size_t(peer)].substr(header(peer, rank_).size());
    HoneGlooText why{};
    expect(library_->functions().connect(group_, peer, address.data(), address.size(), &why),
           ("connect to rank " + std::to_string(peer)).c_str(), why);
  }
  greet();
}

void GlooTransport::check_blobs(const std::vector<std::string>& blobs) const {
  if (int(blobs.size()) != size_) fail(Code::kConfig, "connect: %zu blobs for %d ranks.", blobs.size(), size_);
  const std::vector<std::string> own = prepare();
  for (int peer = 0; peer < size_; ++peer) {
    const std::string& blob = blobs[size_t(peer)];
    if (peer == rank_) continue;
    const size_t address = own[size_t(peer)].size() - header(rank_, peer).size();
    if (blob.rfind(header(peer, rank_), 0) != 0 || blob.size() != header(peer, rank_).size() + address) {
      fail(Code::kConfig, "connect: entry %d is not what rank %d prepared for rank %d of %d.", peer, peer, rank_, size_);
    }
  }
}

/// The kernel completes a connection before the other process has asked for it: only an answer shows that it has.
void GlooTransport::greet() {
  char here = 1;
  std::vector<char> there(static_cast<size_t>(size_));
  Pieces sends, receives;
  for (int peer = 0; peer < size_; ++peer) {
    if (peer == rank_) continue;
    sends.push_back({peer, &here, 1});
    receives.push_back({peer, &there[size_t(peer)], 1});
  }
  exchange(0, sends, receives, std::chrono::steady_clock::now() + connect_timeout_);
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

void GlooTransport::interrupt() { library_->functions().interrupt(group_); }
void GlooTransport::leave() { library_->functions().leave(group_); }

}  // namespace hone::dist
