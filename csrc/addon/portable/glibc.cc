// Lets an addon that is linked against a newer glibc load on glibc 2.28 (CMakeLists.txt: HONE_PORTABLE).
// Compiled only for the published binaries.
//
// The linker binds a function to its newest version. glibc 2.34 gave the functions of pthreads and dlfcn a
// second version, when they moved into libc.so.6, and glibc 2.29 gave one to exp, log and pow, without
// changing their results; here these functions are bound to their first version. Functions that glibc 2.28
// lacks are defined here, hidden.
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

// The linker redirects references to `name` to __wrap_name (-Wl,--wrap=name), which jumps to the first
// version of `name`.
#if defined(__x86_64__)
#define HONE_FIRST "GLIBC_2.2.5"
#define HONE_JUMP(target) "jmp *" target "@GOTPCREL(%rip)"
#elif defined(__aarch64__)
#define HONE_FIRST "GLIBC_2.17"
#define HONE_JUMP(target) "b " target
#else
#error "HONE_PORTABLE: x86-64 and aarch64 only"
#endif
#define HONE_BIND(name, version)                                                                       \
  asm(".text\n.globl __wrap_" #name "\n.hidden __wrap_" #name "\n.type __wrap_" #name ", %function\n" \
      ".symver first_" #name ", " #name "@" version "\n"                                               \
      "__wrap_" #name ":\n  " HONE_JUMP("first_" #name) "\n.size __wrap_" #name ", . - __wrap_" #name "\n")

#define HONE_BOUND(name) HONE_BIND(name, HONE_FIRST);
#include "glibc_bound.inc"
#undef HONE_BOUND
#if defined(__x86_64__)
HONE_BIND(pthread_setname_np, "GLIBC_2.12");
#else
HONE_BIND(pthread_setname_np, HONE_FIRST);
#endif

extern "C" {
/** Since glibc 2.32, true in processes of one thread. False is right in every process. */
char __libc_single_threaded = 0;

/** Since glibc 2.33. On 64-bit systems struct stat has the kernel's layout. */
int stat(const char* path, struct stat* found) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, found, 0));
}
int lstat(const char* path, struct stat* found) {
  return static_cast<int>(syscall(SYS_newfstatat, AT_FDCWD, path, found, AT_SYMLINK_NOFOLLOW));
}
int fstat(int file, struct stat* found) { return static_cast<int>(syscall(SYS_fstat, file, found)); }
int fstat64(int file, struct stat64* found) { return static_cast<int>(syscall(SYS_fstat, file, found)); }

/** Since glibc 2.30. */
pid_t gettid() { return static_cast<pid_t>(syscall(SYS_gettid)); }

/** Since glibc 2.36; std::random_device calls it. */
std::uint32_t arc4random() {
  std::uint32_t value = 0;
  while (getrandom(&value, sizeof(value), 0) != static_cast<ssize_t>(sizeof(value))) {
  }
  return value;
}
}
