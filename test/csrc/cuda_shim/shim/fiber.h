// A fiber, which stands for a CUDA thread: a stack of its own, and the switch to it and back.
#pragma once

#include <cstddef>
#include <functional>

namespace hone::cuda_shim {

/// Neither copyable nor movable, since its stack holds addresses. A closed page lies below the stack.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;

  /// The next resume() begins `entry` from its start, whatever the fiber ran before. `entry` must outlive the fiber's
  /// work and must not throw.
  void start(const std::function<void()>* entry);
  /// Called on the host's stack: runs until the fiber yields or ends.
  void resume();
  /// Called on the fiber's own stack: goes back to the stack that resumed it.
  void yield();
  /// Called before a throw on any stack: tells AddressSanitizer which stack is current, where it clears what
  /// the frames that are cut short leave. Telling it at every switch took a seventh of the machine's time.
  static void before_throw();

 private:
  static void main();
  void tell_sanitizer(const void* bottom, size_t bytes);

  const std::function<void()>* entry_ = nullptr;
  bool ended_ = true;  // true once `entry` has returned
  std::byte* stack_ = nullptr;
  void* context_ = nullptr;  // saved stack pointer, or a ucontext_t
  const void* host_bottom_ = nullptr;  // set while the sanitizer believes this stack to be current
  size_t host_size_ = 0;
};

}  // namespace hone::cuda_shim
