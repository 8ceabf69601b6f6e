/**
 * A seccomp filter for one single-process program: threads may start, processes may not (fork fails with EAGAIN), and calls that
 * reach other processes, namespaces, mounts, kernel interfaces seldom hardened, or memory that no limit counts
 * (memfd, System V shared memory) fail with EPERM. Undefined where the processor is none of x64 and arm64.
 * Little-endian array of sock_filter, as `bwrap --seccomp` reads it.
 * Source: Linux, include/uapi/linux/{filter,seccomp,audit}.h and the tables of system calls.
 */
export function seccompFilter(arch: string = process.arch): Buffer | undefined {
  const table = TABLES[arch];
  return table && assemble(table);
}

interface CallTable {
  readonly auditArch: number;
  readonly clone: number;
  readonly denied: readonly number[];
  /** Calls that glibc retries another way when they do not exist. */
  readonly absent: readonly number[];
  readonly forks: readonly number[];
}

/** pidfd_send_signal, io_uring (3), open_tree, move_mount, fsopen to fspick, pidfd_open, pidfd_getfd, process_madvise, mount_setattr, memfd_secret. */
const DENIED_EVERYWHERE = [424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 447];
const CLONE3 = 435;

const TABLES: Readonly<Record<string, CallTable>> = {
  x64: {
    auditArch: 0xc000003e,
    clone: 56,
    // shmget, socket, semget, msgget, ptrace, pivot_root, chroot, mount, umount2, mq_open, add_key, request_key,
    // keyctl, inotify_init, unshare, inotify_init1, perf_event_open, fanotify_init, open_by_handle_at, setns,
    // process_vm_readv, process_vm_writev, kcmp, memfd_create, bpf, userfaultfd
    denied: [
      29, 41, 64, 68, 101, 155, 161, 165, 166, 240, 248, 249, 250, 253, 272, 294, 298, 300, 304, 308, 310,
      311, 312, 319, 321, 323,
    ],
    absent: [CLONE3],
    forks: [57, 58],
  },
  arm64: {
    auditArch: 0xc00000b7,
    clone: 220,
    // inotify_init1, umount2, mount, pivot_root, chroot, unshare, ptrace, mq_open, msgget, semget, shmget, socket,
    // add_key, request_key, keyctl, perf_event_open, fanotify_init, open_by_handle_at, setns, process_vm_readv,
    // process_vm_writev, kcmp, memfd_create, bpf, userfaultfd
    denied: [
      26, 39, 40, 41, 51, 97, 117, 180, 186, 190, 194, 198, 217, 218, 219, 241, 262, 265, 268, 270, 271, 272,
      279, 280, 282,
    ],
    absent: [CLONE3],
    forks: [],
  },
};

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const RETURN = 0x06; // BPF_RET | BPF_K

const KILL = 0x80000000;
const ALLOW = 0x7fff0000;
const errno = (number: number) => 0x00050000 | number;
const EPERM = 1;
const EAGAIN = 11;
const ENOSYS = 38;

/** Offsets in struct seccomp_data. */
const NUMBER = 0;
const ARCH = 4;
const FIRST_ARGUMENT = 16;
/** x86-64 calls from here on use the x32 table. */
const X32 = 0x40000000;
const CLONE_THREAD = 0x00010000;

/** Jumps go to a label; without one, to the next step. */
type Step = readonly [code: number, value: number, ifTrue?: string | undefined, ifFalse?: string];

function assemble({ auditArch, clone, denied, absent, forks }: CallTable): Buffer {
  const steps: Step[] = [
    [LOAD, ARCH],
    [EQUAL, auditArch, undefined, "kill"],
    [LOAD, NUMBER],
    [AT_LEAST, X32, "kill"],
    [EQUAL, clone, "clone"],
    ...absent.map((call): Step => [EQUAL, call, "absent"]),
    ...forks.map((call): Step => [EQUAL, call, "fork"]),
    ...[...denied, ...DENIED_EVERYWHERE].map((call): Step => [EQUAL, call, "deny"]),
    [RETURN, ALLOW],
  ];
  const labels = new Map<string, number>();
  const block = (label: string, ...lines: Step[]) => {
    labels.set(label, steps.length);
    steps.push(...lines);
  };
  block("clone", [LOAD, FIRST_ARGUMENT], [ANY_BIT, CLONE_THREAD, undefined, "fork"], [RETURN, ALLOW]);
  block("deny", [RETURN, errno(EPERM)]);
  block("fork", [RETURN, errno(EAGAIN)]);
  block("absent", [RETURN, errno(ENOSYS)]);
  block("kill", [RETURN, KILL]);
  const bytes = Buffer.alloc(8 * steps.length);
  for (const [at, [code, value, ifTrue, ifFalse]] of steps.entries()) {
    const jump = (label?: string) => (label === undefined ? 0 : labels.get(label)! - at - 1);
    bytes.writeUInt16LE(code, 8 * at);
    bytes.writeUInt8(jump(ifTrue), 8 * at + 2);
    bytes.writeUInt8(jump(ifFalse), 8 * at + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * at + 4);
  }
  return bytes;
}
