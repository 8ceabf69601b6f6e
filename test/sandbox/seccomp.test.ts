// Deliberate faults (mutants) that these tests detect: sockets are allowed, the x32 table is not checked, clone may
// make processes.
import { describe, expect, test } from "vitest";
import { computingFilter, seccompFilter } from "../../lib/sandbox/seccomp.ts";

/** Runs the filter as the kernel would on a system call; of each argument only the lower half is given. */
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

type Decisions = Readonly<Record<string, readonly number[]>>;

/**
 * Each filter's decision on every call that does not depend on arguments, as plain lists of numbers.
 * Source: the names in seccomp.ts, looked up in asm/unistd_64.h and asm-generic/unistd.h of Linux 6.1, and of 6.16
 * for 451 and from 454 on.
 */
const PLAIN: Readonly<
  Record<"x64" | "arm64", { readonly program: Decisions; readonly computing: Decisions }>
> = {
  x64: {
    program: {
      [EPERM]: [
        29, 41, 42, 46, 49, 50, 64, 68, 99, 101, 103, 141, 142, 144, 155, 160, 161, 165, 166, 203, 206, 222,
        240, 248, 249, 250, 251, 253, 256, 272, 279, 294, 298, 300, 304, 307, 308, 310, 311, 312, 314, 319,
        321, 323, 327, 328, 424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 447, 448,
        451,
      ],
      [ENOSYS]: [435, 449, 454, 455, 456],
      [EAGAIN]: [57, 58],
      "errno 0": [73],
    },
    computing: {
      allow: [
        0, 1, 3, 5, 8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 24, 25, 28, 35, 39, 60, 96, 98, 131, 186, 201, 219,
        228, 229, 230, 231, 318, 329, 334,
      ],
    },
  },
  arm64: {
    program: {
      [EPERM]: [
        0, 26, 30, 39, 40, 41, 51, 97, 107, 116, 117, 118, 119, 122, 140, 164, 179, 180, 186, 190, 194, 198,
        200, 201, 203, 211, 217, 218, 219, 238, 239, 241, 262, 265, 268, 269, 270, 271, 272, 274, 279, 280,
        282, 286, 287, 424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 447, 448, 451,
      ],
      [ENOSYS]: [435, 449, 454, 455, 456],
      "errno 0": [32],
    },
    computing: {
      allow: [
        57, 62, 63, 64, 66, 67, 80, 93, 94, 101, 113, 114, 115, 124, 128, 132, 134, 135, 139, 165, 169, 172,
        178, 214, 215, 216, 222, 226, 233, 278, 288, 293,
      ],
    },
  },
};

/**
 * Calls whose decision depends on arguments: their numbers on x64 and arm64, and the decisions if all six arguments
 * are VALUES[0], VALUES[1] or VALUES[2].
 */
const BY_ARGUMENTS: readonly (readonly [x64: number, arm64: number, ...decisions: string[]])[] = [
  [56, 220, EAGAIN, EAGAIN, "allow"], // clone
  [62, 129, "allow", "kill", "allow"], // kill
  [200, 130, "allow", "kill", "allow"], // tkill
  [129, 138, "allow", "kill", "allow"], // rt_sigqueueinfo
  [234, 131, "allow", "kill", "allow"], // tgkill
  [297, 240, "allow", "kill", "allow"], // rt_tgsigqueueinfo
  [72, 25, "allow", "allow", "allow"], // fcntl
  [202, 98, EAGAIN, EAGAIN, "allow"], // futex
  [302, 261, "allow", EPERM, EPERM], // prlimit64
  [53, 199, EPERM, EPERM, "allow"], // socketpair
];
/** No flag; SIGKILL; CLONE_THREAD, FUTEX_PRIVATE_FLAG and SOCK_STREAM together. */
const VALUES = [0, 9, 0x10081];

describe.each(["x64", "arm64"] as const)("%s: every number gets the answer of a plain list", (arch) => {
  const column = arch === "x64" ? 0 : 1;
  const audit = arch === "x64" ? X64 : ARM64;
  const cases = VALUES.flatMap((value, i) => {
    const byArguments = BY_ARGUMENTS.map((row) => [row[column], row[2 + i]!] as const);
    const plain = (decisions: Decisions) =>
      Object.entries(decisions).flatMap(([decision, numbers]) =>
        numbers.map((nr) => [nr, decision] as const),
      );
    const { program, computing } = PLAIN[arch];
    const futex = byArguments.filter((_, row) => BY_ARGUMENTS[row]![0] === 202);
    return [
      ["a program's", value, seccompFilter(arch)!, [...plain(program), ...byArguments], "allow"] as const,
      [
        "a computing program's",
        value,
        computingFilter(arch)!,
        [...plain(computing), ...futex],
        EPERM,
      ] as const,
    ];
  });

  test.each(cases)("%s filter, arguments %i", (_, value, filter, decisions, otherwise) => {
    const expected = new Map(decisions);
    expect(expected.size).toBe(decisions.length);
    const args = Array(6).fill(value) as number[];
    const wrong = [...Array(1024).keys(), 0x3fffffff].filter(
      (nr) => decide(filter, nr, audit, ...args) !== (expected.get(nr) ?? otherwise),
    );
    expect(wrong).toEqual([]);
    const x32 = [...Array(1024).keys()].map((nr) => 0x40000000 + nr);
    for (const nr of [...x32, 0x80000000, 0xffffffff])
      expect(decide(filter, nr, audit, ...args)).toBe("kill");
  });
});

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
