// C interface of hone_gloo.so, which wraps the few functions of Gloo (a C++ library) that are used. The core
// opens hone_gloo.so by name, so that it needs neither Gloo nor Gloo's headers.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct HoneGlooGroup;  // one rank's sockets to all other ranks

enum HoneGlooStatus : int {
  kHoneGlooOk = 0,
  kHoneGlooLost = 1,         // a peer or the network failed
  kHoneGlooLate = 2,         // the time-out has passed
  kHoneGlooInterrupted = 3,  // interrupt() was called
  kHoneGlooMisused = 4,
};

struct HoneGlooPiece {
  int peer;
  void* data;
  size_t bytes;
};

/// Receives the reason of a failed call; truncated, zero-terminated.
struct HoneGlooText {
  char text[512];
};

struct HoneGlooFunctions {
  int version;        // version of this table
  const char* gloo;   // version of Gloo, "0.5.0"
  /// Returns null and fills `why` on failure.
  HoneGlooGroup* (*create)(int rank, int size, HoneGlooText* why);
  /// Adds the connection to `peer`; called once per peer. `socket` is non-blocking, and its other end is what
  /// the peer passes to its own call. Takes ownership of the socket, even on failure.
  HoneGlooStatus (*take)(HoneGlooGroup*, int peer, int socket, HoneGlooText* why);
  /// Runs all transfers concurrently, at most one piece in each direction per peer. Blocks.
  HoneGlooStatus (*exchange)(HoneGlooGroup*, uint64_t tag, const HoneGlooPiece* sends, size_t send_count,
                             const HoneGlooPiece* receives, size_t receive_count, int64_t timeout_ms, HoneGlooText* why);
  /// May be called from any thread: a running exchange() and every later one return kHoneGlooInterrupted.
  void (*interrupt)(HoneGlooGroup*);
  /// Closes the sockets. Must not be called while exchange() runs.
  void (*leave)(HoneGlooGroup*);
  void (*destroy)(HoneGlooGroup*);
};

inline constexpr int kHoneGlooVersion = 2;

/// The library's only exported symbol.
const HoneGlooFunctions* hone_gloo();
}
