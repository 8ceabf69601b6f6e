#include "sandbox/run_buffers.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>

#include "sandbox/program.h"

namespace hone::sandbox {
namespace {

constexpr std::size_t kAtOnce = 1 << 16;

}  // namespace

RunBuffers::RunBuffers(std::size_t job, const std::array<std::size_t, 3>& most)
    : job_(job), bytes_(job + most[0] + most[1] + most[2] + 1), most_(most) {
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED || madvise(memory, bytes_, MADV_DONTFORK) != 0) fail("memory for a run");
  memory_ = static_cast<std::byte*>(memory);
}

RunBuffers::~RunBuffers() { munmap(memory_, bytes_); }

bool RunBuffers::receive(int fd) {
  if (received_ < job_) {
    const ssize_t count = read(fd, memory_ + received_, job_ - received_);
    if (count == 0) _exit(0);
    if (count < 0 && !would_block()) fail("read");
    received_ += std::size_t(std::max<ssize_t>(0, count));
  }
  return received_ == job_;
}

bool RunBuffers::give(int fd) {
  const ssize_t count = write(fd, memory_ + given_, job_ - given_);
  if (count > 0) given_ += std::size_t(count);
  const bool refused = count < 0 && !would_block();
  return !refused && given_ < job_;
}

RunBuffers::Took RunBuffers::take(std::size_t which, int fd) {
  const std::span<std::byte> before = written(which);
  const std::size_t room = most_[which] - before.size();
  // If the buffer is full, one more byte exceeds the limit.
  std::byte beyond;
  const ssize_t count =
      room == 0 ? read(fd, &beyond, 1) : read(fd, before.data() + before.size(), std::min(room, kAtOnce));
  if (count < 0 && would_block()) return Took::kSome;
  if (count <= 0) return Took::kEnd;
  if (room == 0) return Took::kTooMuch;
  sizes_[which] += std::size_t(count);
  return Took::kSome;
}

std::span<std::byte> RunBuffers::written(std::size_t which) const {
  std::byte* at = memory_ + job_;
  for (std::size_t before = 0; before < which; ++before) at += most_[before];
  return {at, sizes_[which]};
}

}  // namespace hone::sandbox
