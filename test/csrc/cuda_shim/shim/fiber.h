// A fiber, which runs one CUDA thread: its own stack, and switching to it and back.
#pragma once

#include <cstddef>
#include <functional>

namespace hone::cuda_shim {

/// Neither copyable nor movable, since its stack holds addresses. An inaccessible page lies below the stack.
class Fiber {
 public:
  Fiber();
  ~Fiber();
  Fiber(const Fiber&) = delete;

  /// Sets the function that the next resume() begins from its start, whatever the fiber ran before. `entry`
  /// must outlive the run and must not throw.
  void start(const std::function<void()>* entry);
  /// Call on the host's stack: runs the fiber until it yields or ends.
  void resume();
  /// Call on the fiber's own stack: returns to the stack that resumed it.
  void yield();
  /// Call before a throw, on any stack: tells AddressSanitizer which stack is current, where it then clears
  /// the marks of the abandoned frames. (Telling it at every switch took a seventh of the tests' time.)
  static void before_throw();

 private:
  static void main();
  void tell_sanitizer(const void* bottom, size_t bytes);

  const std::function<void()>* entry_ = nullptr;
  bool ended_ = true;  // true once `entry` has returned
  std::byte* stack_ = nullptr;
  void* context_ = nullptr;  // saved stack pointer, or a ucontext_t
  const void* host_bottom_ = nullptr;  // set while AddressSanitizer considers this stack the current one
  size_t host_size_ = 0;
};

}  // namespace hone::cuda_shim
