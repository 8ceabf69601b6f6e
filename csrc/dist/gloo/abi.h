// Interface of hone_gloo.so: Gloo has a C++ interface, so the few functions that are used are wrapped in C ones, in a
// library of their own that is opened by name. The core needs neither Gloo nor its headers.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" {

struct HoneGlooGroup;  // a rank's sockets to all others

enum HoneGlooStatus : int {
  kHoneGlooOk = 0,
  kHoneGlooLost = 1,         // a peer or the network failed
  kHoneGlooLate = 2,         // the time-out has passed
  kHoneGlooInterrupted = 3,  // by interrupt()
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
  int version;        // of this table
  const char* gloo;   // "0.5.0"
  /// Returns null and fills `why` if it fails.
  HoneGlooGroup* (*create)(int rank, int size, HoneGlooText* why);
  /// Called once per peer: a non-blocking socket whose other end that peer passes to the same call. Takes ownership,
  /// even if it fails.
  HoneGlooStatus (*take)(HoneGlooGroup*, int peer, int socket, HoneGlooText* why);
  /// Runs all transfers concurrently, at most one piece in each direction per peer. Blocks.
  HoneGlooStatus (*exchange)(HoneGlooGroup*, uint64_t tag, const HoneGlooPiece* sends, size_t send_count,
                             const HoneGlooPiece* receives, size_t receive_count, int64_t timeout_ms, HoneGlooText* why);
  /// From any thread: a running exchange() and every later one return interrupted.
  void (*interrupt)(HoneGlooGroup*);
  /// Closes the sockets; not while exchange() runs.
  void (*leave)(HoneGlooGroup*);
  void (*destroy)(HoneGlooGroup*);
};

inline constexpr int kHoneGlooVersion = 2;

/// The library's only exported symbol.
const HoneGlooFunctions* hone_gloo();
}
