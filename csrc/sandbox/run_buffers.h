// Buffers for a run's job and for its output.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace hone::sandbox {

/// The buffers are in memory that a fork does not copy, so that no run can read the job or output of another.
class RunBuffers {
 public:
  enum class Took { kSome, kEnd, kTooMuch };

  /// job: size of the job in bytes; most: limit of each output in bytes.
  RunBuffers(std::size_t job, const std::array<std::size_t, 3>& most);
  ~RunBuffers();
  RunBuffers(const RunBuffers&) = delete;
  RunBuffers& operator=(const RunBuffers&) = delete;

  /// Reads a part of the job from `fd`; returns true once the job is complete. Ends this process if `fd` is
  /// at its end.
  bool receive(int fd);
  /// Writes a part of the job to `fd`; returns false once all is written or the pipe has no reader.
  bool give(int fd);
  /// Reads a part of an output from `fd`, if any is available.
  Took take(std::size_t which, int fd);
  /// The bytes of an output read so far.
  std::span<std::byte> written(std::size_t which) const;

 private:
  std::size_t job_, bytes_;
  std::array<std::size_t, 3> most_, sizes_{};
  std::byte* memory_;
  std::size_t received_ = 0, given_ = 0;
};

}  // namespace hone::sandbox
