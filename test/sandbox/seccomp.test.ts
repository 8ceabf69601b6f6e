// Mutants tried: sockets allowed, the x32 table not looked at, clone of processes allowed.
import { describe, expect, test } from "vitest";
import { computingFilter, seccompFilter } from "../../lib/sandbox/seccomp.ts";

/** Runs the filter as the kernel would, on a system call and its arguments, of which only the lower halves are given. */
function decide(filter: Buffer, nr: number, arch: number, ...args: number[]): string {
  const data = new Map([
    [0, nr],
    [4, arch],
    ...Array.from({ length: 6 }, (_, i) => [16 + 8 * i, args[i] ?? 0] as const),
    ...Array.from({ length: 6 }, (_, i) => [20 + 8 * i, (args[i] ?? 0) / 2 ** 32] as const),
  ]);
  let accumulator = 0;
  for (let at = 0; at < filter.length / 8; at++) {
    const [code, yes, no] = [
      filter.readUInt16LE(8 * at),
      filter.readUInt8(8 * at + 2),
      filter.readUInt8(8 * at + 3),
    ];
    const k = filter.readUInt32LE(8 * at + 4);
    const jump = (holds: boolean) => (holds ? yes : no);
    if (code === 0x20) accumulator = Math.floor(data.get(k)!) % 2 ** 32;
    else if (code === 0x15) at += jump(accumulator === k);
    else if (code === 0x35) at += jump(accumulator >= k);
    else if (code === 0x54) accumulator &= k;
    else if (code === 0x45) at += jump((accumulator & k) !== 0);
    else if (code === 0x06) return NAMES.get(k) ?? `errno ${k & 0xffff}`;
    else throw new Error(`no such instruction: ${code}`);
  }
  throw new Error("ran off the end");
}
const NAMES = new Map([
  [0x7fff0000, "allow"],
  [0x80000000, "kill"],
]);
const X64 = 0xc000003e;
const ARM64 = 0xc00000b7;
const [EPERM, EAGAIN, ENOSYS] = ["errno 1", "errno 11", "errno 38"];

describe("x64", () => {
  const filter = seccompFilter("x64")!;
  test.each([
    ["read", 0, "allow"],
    ["write", 1, "allow"],
    ["execve", 59, "allow"],
    ["fork", 57, EAGAIN],
    ["vfork", 58, EAGAIN],
    ["clone3", 435, ENOSYS],
    ["socket", 41, EPERM],
    ["ptrace", 101, EPERM],
    ["process_vm_writev", 311, EPERM],
    ["memfd_create", 319, EPERM],
    ["io_uring_setup", 425, EPERM],
    ["pidfd_getfd", 438, EPERM],
    ["memfd_secret, the last of the table", 447, EPERM],
    ["a call of the x32 table", 0x40000000, "kill"],
  ])("%s", (_, nr, decision) => {
    expect(decide(filter, nr, X64)).toBe(decision);
  });

  test("clone makes threads and no processes", () => {
    expect(decide(filter, 56, X64, 0x003d0f00)).toBe("allow");
    expect(decide(filter, 56, X64, 0x01200011)).toBe(EAGAIN);
  });

  test.each<[string, number, number[], string]>([
    ["kill with SIGKILL", 62, [1, 9], "kill"],
    ["kill with SIGTERM", 62, [1, 15], "allow"],
    ["tgkill with SIGKILL", 234, [1, 1, 9], "kill"],
    ["tgkill with SIGABRT", 234, [1, 1, 6], "allow"],
    ["rt_sigqueueinfo with SIGKILL", 129, [1, 9], "kill"],
    ["flock", 73, [3, 2], "errno 0"],
    ["fcntl F_SETLK", 72, [3, 6], "errno 0"],
    ["fcntl F_GETLK", 72, [3, 5], "allow"],
    ["fcntl F_SETSIG", 72, [3, 10], EPERM],
    ["fcntl F_SETPIPE_SZ", 72, [3, 1031], EPERM],
    ["fcntl F_SETFL", 72, [3, 4], "allow"],
    ["futex, private", 202, [0, 129], "allow"],
    ["futex, shared", 202, [0, 1], EAGAIN],
    ["futex_waitv", 449, [], ENOSYS],
    ["prlimit64 to read", 302, [0, 7, 0, 1], "allow"],
    ["prlimit64 to set", 302, [0, 7, 4096], EPERM],
    ["prlimit64 to set, from high memory", 302, [0, 7, 2 ** 40], EPERM],
    ["socketpair of streams that close on exec", 53, [1, 0x80001], "allow"],
    ["socketpair of datagrams", 53, [1, 2], EPERM],
    ["io_setup", 206, [60000], EPERM],
    ["setrlimit", 160, [], EPERM],
    ["sysinfo", 99, [], EPERM],
    ["syslog", 103, [], EPERM],
    ["sendmsg", 46, [], EPERM],
  ])("%s", (_, nr, args, decision) => {
    expect(decide(filter, nr, X64, ...args)).toBe(decision);
  });

  test("another architecture's calls kill", () => {
    expect(decide(filter, 1, 0x40000003)).toBe("kill");
  });
});

test.each([
  ["clone of a process", 220, EAGAIN],
  ["write", 64, "allow"],
  ["socket", 198, EPERM],
  ["ptrace", 117, EPERM],
  ["unshare", 97, EPERM],
  ["io_setup", 0, EPERM],
  ["flock", 32, "errno 0"],
])("arm64: %s", (_, nr, decision) => {
  expect(decide(seccompFilter("arm64")!, nr, ARM64)).toBe(decision);
});

describe("a program that only computes", () => {
  test.each<[string, number, number[], string]>([
    ["read", 0, [], "allow"],
    ["write", 1, [], "allow"],
    ["mmap", 9, [], "allow"],
    ["exit_group", 231, [], "allow"],
    ["futex, private", 202, [0, 129], "allow"],
    ["futex, shared", 202, [0, 1], EAGAIN],
    ["open", 2, [], EPERM],
    ["openat", 257, [], EPERM],
    ["execve", 59, [], EPERM],
    ["clone of a thread", 56, [0x003d0f00], EPERM],
    ["kill", 62, [1, 15], EPERM],
    ["tgkill", 234, [1, 1, 6], EPERM],
    ["socket", 41, [], EPERM],
    ["dup2", 33, [], EPERM],
    ["prctl", 157, [], EPERM],
    ["ioctl", 16, [], EPERM],
    ["a call nobody knows yet", 999, [], EPERM],
    ["a call of the x32 table", 0x40000001, [], "kill"],
  ])("x64: %s", (_, nr, args, decision) => {
    expect(decide(computingFilter("x64")!, nr, X64, ...args)).toBe(decision);
  });

  test.each([
    ["write", 64, "allow"],
    ["openat", 56, EPERM],
    ["clone", 220, EPERM],
  ])("arm64: %s", (_, nr, decision) => {
    expect(decide(computingFilter("arm64")!, nr, ARM64)).toBe(decision);
  });
});

test("no filter for a processor whose calls are not known", () => {
  expect([seccompFilter("riscv64"), computingFilter("riscv64")]).toEqual([undefined, undefined]);
});
