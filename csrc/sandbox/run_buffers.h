// The job of a run and what the run wrote.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hone::sandbox {

/// Memory that a fork does not copy, so that no run finds the job or the output of another in it.
class RunBuffers {
 public:
  enum class Took { kSome, kEnd, kTooMuch };

  /// job: its size in bytes; most: limit of each output in bytes.
  RunBuffers(std::size_t job, const std::array<std::size_t, 3>& most);
  ~RunBuffers();
  RunBuffers(const RunBuffers&) = delete;
  RunBuffers& operator=(const RunBuffers&) = delete;

  /// Reads a part of the job from `fd`; true once it is whole. Ends the process at the end of the file.
  bool receive(int fd);
  /// Writes a part of the job to `fd`; false once nothing is left to write or the pipe has no reader.
  bool give(int fd);
  /// Reads a part of an output from `fd`, if there is any yet.
  Took take(std::size_t which, int fd);
  /// All of an output so far.
  std::span<std::byte> written(std::size_t which) const;

 private:
  std::size_t job_, bytes_;
  std::array<std::size_t, 3> most_, sizes_{};
  std::byte* memory_;
  std::size_t received_ = 0, given_ = 0;
};

}  // namespace hone::sandbox
