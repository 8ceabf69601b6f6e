// A stack of its own and a switch to it and back: what a CUDA thread is made of here.
#pragma once

#include <cstddef>
#include <functional>

namespace hone::cuda_shim {

/// Not copyable, not movable: its stack holds addresses. The stack has a closed page below it.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;

  /// The next resume() begins `entry` from its start, whatever ran here before. `entry` outlives the fiber's work
  /// and never throws.
  void start(const std::function<void()>* entry);
  /// From the host's stack: runs until the fiber yields or ends.
  void resume();
  /// From the fiber's own stack: back to the stack that resumed it.
  void yield();
  /// Before something is thrown on whatever stack this is. AddressSanitizer clears what frames that are cut short leave on
  /// the stack that it takes for the current one; to tell it at every switch took a seventh of the machine's time.
  static void before_throw();

 private:
  static void main();
  void tell_sanitizer(const void* bottom, size_t bytes);

  const std::function<void()>* entry_ = nullptr;
  bool ended_ = true;  // its entry came to its end
  std::byte* stack_ = nullptr;
  void* context_ = nullptr;  // saved stack pointer, or a ucontext_t
  const void* host_bottom_ = nullptr;  // while the sanitizer takes this stack for the current one
  size_t host_size_ = 0;
};

}  // namespace hone::cuda_shim
