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
  /// From the fiber's own stack: back to whoever resumed it.
  void yield() { leave(false); }

 private:
  static void main();
  void leave(bool forever);

  const std::function<void()>* entry_ = nullptr;
  bool ended_ = true;  // its entry came to its end
  std::byte* stack_ = nullptr;
  void* context_ = nullptr;  // saved stack pointer, or a ucontext_t
  void* fake_stack_ = nullptr;
};

}  // namespace hone::cuda_shim
