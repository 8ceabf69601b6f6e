// Mutants tried: sockets allowed, the x32 table not looked at, clone of processes allowed.
import { describe, expect, test } from "vitest";
import { seccompFilter } from "../../../lib/rewards/sandbox/seccomp.ts";

/** Runs the filter as the kernel would, on (system call, first argument). */
function decide(filter: Buffer, nr: number, arch: number, argument = 0): string {
  const data = new Map([
    [0, nr],
    [4, arch],
    [16, argument],
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
    if (code === 0x20) accumulator = data.get(k)!;
    else if (code === 0x15) at += jump(accumulator === k);
    else if (code === 0x35) at += jump(accumulator >= k);
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
    ["socketpair", 53, "allow"],
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
])("arm64: %s", (_, nr, decision) => {
  expect(decide(seccompFilter("arm64")!, nr, ARM64)).toBe(decision);
});

test("no filter for a processor whose calls are not known", () => {
  expect(seccompFilter("riscv64")).toBeUndefined();
});
