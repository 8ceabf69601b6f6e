// What hone_gloo.so offers: Gloo has a C++ interface, so the few calls that are used stand behind C ones, in a library of
// their own that is opened by name. The core needs neither Gloo nor its headers.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct HoneGlooGroup;  // a rank's sockets to all others

enum HoneGlooStatus : int {
  kHoneGlooOk = 0,
  kHoneGlooLost = 1,         // a peer is gone, or the network is
  kHoneGlooLate = 2,         // the time is over
  kHoneGlooInterrupted = 3,  // by interrupt()
  kHoneGlooMisused = 4,
};

struct HoneGlooPiece {
  int peer;
  void* data;
  size_t bytes;
};

/// Where a failed call says why; cut to fit, ended by a zero.
struct HoneGlooText {
  char text[512];
};

struct HoneGlooFunctions {
  int version;        // of this table
  const char* gloo;   // "0.5.0"
  /// Null, and why.
  HoneGlooGroup* (*create)(int rank, int size, HoneGlooText* why);
  /// Once a peer: a socket, not blocking, at whose other end that peer does the same. Owns it from here on, however it ends.
  HoneGlooStatus (*take)(HoneGlooGroup*, int peer, int socket, HoneGlooText* why);
  /// All of it at once, at most one piece each way with a peer. Blocks.
  HoneGlooStatus (*exchange)(HoneGlooGroup*, uint64_t tag, const HoneGlooPiece* sends, size_t send_count,
                             const HoneGlooPiece* receives, size_t receive_count, int64_t timeout_ms, HoneGlooText* why);
  /// From any thread: exchange() that runs, and every later one, returns interrupted.
  void (*interrupt)(HoneGlooGroup*);
  /// Closes the sockets; not while exchange() runs.
  void (*leave)(HoneGlooGroup*);
  void (*destroy)(HoneGlooGroup*);
};

inline constexpr int kHoneGlooVersion = 2;

/// The one symbol of the library.
const HoneGlooFunctions* hone_gloo();
}
