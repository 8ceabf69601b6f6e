#include "shim/fiber.h"

#include <sys/mman.h>

#include <new>
#include <utility>

#if defined(HONE_SHIM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(__x86_64__) && !defined(HONE_SHIM_UCONTEXT)
// some 20 times as fast as swapcontext, which makes a system call for the signal mask
#define HONE_SHIM_SWITCH 1
#else
#include <ucontext.h>
#endif

namespace hone::cuda_shim {
namespace {

constexpr size_t kStack = 256 * 1024, kGuardPage = 4096;  // untouched pages take no memory
// bytes of the frames of main() and yield(), which are never left
[[maybe_unused]] constexpr size_t kLastFrames = 1024;

thread_local Fiber* running = nullptr;
void* host_context = nullptr;

}  // namespace

#if defined(HONE_SHIM_SWITCH)
// Saves the stack pointer and the registers that a function must preserve, and continues on another stack.
extern "C" void hone_shim_switch(void** save, void* to);
asm(R"(
.text
.type hone_shim_switch, @function
hone_shim_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size hone_shim_switch, .-hone_shim_switch
)");
#else
namespace {
ucontext_t host_ucontext;
void hone_shim_switch(void** save, void* to) {
  auto* from = *save ? static_cast<ucontext_t*>(*save) : &host_ucontext;
  auto* target = to ? static_cast<ucontext_t*>(to) : &host_ucontext;
  swapcontext(from, target);
}
}  // namespace
#endif

Fiber::Fiber() {
  void* memory = mmap(nullptr, kStack + kGuardPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  mprotect(memory, kGuardPage, PROT_NONE);
  stack_ = static_cast<std::byte*>(memory) + kGuardPage;
#if !defined(HONE_SHIM_SWITCH)
  context_ = new ucontext_t;
#endif
}

Fiber::~Fiber() {
#if !defined(HONE_SHIM_SWITCH)
  delete static_cast<ucontext_t*>(context_);
#endif
  munmap(stack_ - kGuardPage, kStack + kGuardPage);
}

void Fiber::start(const std::function<void()>* entry) {
  entry_ = entry;
#if defined(HONE_SHIM_ASAN)
  // the whole stack if a fault has abandoned frames
  const size_t left = std::exchange(ended_, false) ? kLastFrames : kStack;
  __asan_unpoison_memory_region(stack_ + kStack - left, left);
#endif
#if defined(HONE_SHIM_SWITCH)
  // Six registers, the return address, and main()'s own return address, which is never used: the stack looks
  // as it does after a call.
  auto* top = reinterpret_cast<void**>(stack_ + kStack);
  *--top = nullptr;
  *--top = reinterpret_cast<void*>(&Fiber::main);
  for (int i = 0; i < 6; ++i) *--top = nullptr;
  context_ = top;
#else
  auto* context = static_cast<ucontext_t*>(context_);
  getcontext(context);
  context->uc_stack.ss_sp = stack_;
  context->uc_stack.ss_size = kStack;
  context->uc_link = nullptr;
  makecontext(context, reinterpret_cast<void (*)()>(&Fiber::main), 0);
#endif
}

void Fiber::main() {
  Fiber* self = running;
  (*self->entry_)();
  self->ended_ = true;
  self->yield();
}

void Fiber::resume() {
  running = this;
  hone_shim_switch(&host_context, context_);
  running = nullptr;
}

void Fiber::yield() {
  tell_sanitizer(host_bottom_, host_size_);
  hone_shim_switch(&context_, host_context);
}

void Fiber::before_throw() {
  Fiber* const self = running;
  if (!self || self->host_bottom_) return;
  self->tell_sanitizer(self->stack_, kStack);
}

void Fiber::tell_sanitizer([[maybe_unused]] const void* bottom, [[maybe_unused]] size_t bytes) {
  if (!bottom) return;
  const void* before = nullptr;
  size_t size = 0;
#if defined(HONE_SHIM_ASAN)
  void* fake = nullptr;
  __sanitizer_start_switch_fiber(&fake, bottom, bytes);
  __sanitizer_finish_switch_fiber(fake, &before, &size);
#endif
  host_bottom_ = bottom == stack_ ? before : nullptr;
  host_size_ = size;
}

}  // namespace hone::cuda_shim

#if defined(HONE_SHIM_ASAN)
// The compiler calls this function before one that does not return; the linker option --wrap replaces it.
extern "C" void __real___asan_handle_no_return();
extern "C" void __wrap___asan_handle_no_return() {
  hone::cuda_shim::Fiber::before_throw();
  __real___asan_handle_no_return();
}
#endif
