// Errors that the core raises on purpose: a stable code and a sentence for the user.
#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <utility>

namespace hone {

/// Stable codes. The addon maps each to one HONE_ERR_* class (lib/errors.ts); keep both lists equal.
enum class Code {
  kShape,        // an argument has another shape or dtype than the op states
  kConfig,       // an invalid configuration value
  kOutOfMemory,  // an arena, pool or cache is too small; the message names its purpose
  kIo,           // the operating system refused a file operation (errno text is in the message)
  kFormat,       // a malformed file: truncated, overlapping, wrong hash
  kState,        // the call is not allowed now (closed engine, no weights yet)
  kAborted,      // the caller asked to stop
  kData,         // an unusable row, text or id in the input; the message names the part
  kNonFinite,    // NaN or Inf where a number is required; the message names the sample
  kCuda,         // the GPU, its driver or a kernel launch failed; the message has the runtime's own text
  kCollective,   // a remote rank reported an error, or did not answer in time
  kUnsupported,  // a known feature that this build or backend lacks
  kInternal,     // a violated invariant: a bug of Hone
};

/// Name of a code as used in messages and by the addon, e.g. "SHAPE".
const char* code_name(Code code);

/// The only exception type thrown by csrc/. Library code never prints and never exits.
class Error : public std::exception {
 public:
  Error(Code code, std::string message) : code_(code), message_(std::move(message)) {}
  Code code() const { return code_; }
  const char* what() const noexcept override { return message_.c_str(); }

 private:
  Code code_;
  std::string message_;
};

/// Throws Error{code, message}; printf-style. Defined out of line, so that callers' code stays small.
[[noreturn]] void fail(Code code, const char* format, ...) __attribute__((format(printf, 2, 3)));

}  // namespace hone
