/**
 * A seccomp filter that confines a program to its own process. Threads may start; fork fails with EAGAIN. The
 * following fail with EPERM: calls that reach other processes, namespaces, mounts, or rarely hardened kernel
 * interfaces; calls that use resources shared by all users of a machine or all processes of a user (slots of
 * asynchronous input and output, memory that no limit counts, sizes of pipes); and calls by which two programs could
 * signal each other. File locks succeed without effect: no other process uses the program's files, and a lock on a
 * system file would be visible to others. A program that tries to kill itself is ended with SIGSYS, so that SIGKILL
 * always comes from outside. Undefined if the processor is neither x64 nor arm64. Little-endian array of sock_filter.
 * Source: Linux, include/uapi/linux/{filter,seccomp,audit,futex,fcntl}.h and the tables of system calls.
 * @param mayFork lets it start processes, as a compiler does
 */
export function seccompFilter(arch: string = process.arch, mayFork = false): Buffer | undefined {
  const column = columnOf(arch);
  if (column === undefined) return undefined;
  const rules = [
    ...CHECKED_CALLS.flatMap((name) => to(column, checks[name][0], { [name]: CHECKED[name] })),
    ...to(column, "absent", ABSENT),
    ...to(column, "fork", FORKS),
    ...to(column, "grant", GRANTED),
    ...to(column, "deny", { ...REACHING_OUT, ...SHARED }),
  ];
  return assemble(column, rules, { otherwise: "allow", mayFork });
}

/**
 * A filter for a program that only computes: it may use open descriptors, its own memory and clocks, and it
 * may exit. Every other call fails with EPERM, including opening a file, starting a thread and sending a
 * signal. Undefined if the processor is neither x64 nor arm64. The format is that of seccompFilter.
 */
export function computingFilter(arch: string = process.arch): Buffer | undefined {
  const column = columnOf(arch);
  if (column === undefined) return undefined;
  const rules = [...to(column, "futex", { futex: CHECKED.futex }), ...to(column, "allow", COMPUTING)];
  return assemble(column, rules, { otherwise: "deny" });
}

const columnOf = (arch: string): 0 | 1 | undefined => (arch === "x64" ? 0 : arch === "arm64" ? 1 : undefined);

/** Numbers of a call on x64 and arm64; a single number is the same on both; undefined: not available. */
type Numbers = readonly [number] | readonly [number | undefined, number | undefined];
type Calls = Readonly<Record<string, Numbers>>;

const REACHING_OUT: Calls = {
  // other processes
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_send_signal: [424],
  pidfd_open: [434],
  pidfd_getfd: [438],
  process_madvise: [440],
  process_mrelease: [448],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
  setpriority: [141, 140],
  ioprio_set: [251, 30],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  setrlimit: [160, 164],
  // namespaces and mounts
  unshare: [272, 97],
  setns: [308, 268],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428],
  move_mount: [429],
  fsopen: [430],
  fsconfig: [431],
  fsmount: [432],
  fspick: [433],
  mount_setattr: [442],
  open_by_handle_at: [304, 265],
  // rarely hardened kernel interfaces
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  io_uring_setup: [425],
  io_uring_enter: [426],
  io_uring_register: [427],
  add_key: [248, 217],
  request_key: [249, 218],
  keyctl: [250, 219],
  // can send a signal of any number at a later time
  timer_create: [222, 107],
};

const SHARED: Calls = {
  io_setup: [206, 0],
  shmget: [29, 194],
  semget: [64, 190],
  msgget: [68, 186],
  mq_open: [240, 180],
  memfd_create: [319, 279],
  memfd_secret: [447],
  socket: [41, 198],
  bind: [49, 200],
  listen: [50, 201],
  connect: [42, 203],
  sendmsg: [46, 211],
  sendmmsg: [307, 269],
  inotify_init: [253, undefined],
  inotify_init1: [294, 26],
  fanotify_init: [300, 262],
  // state of the whole machine
  sysinfo: [99, 179],
  syslog: [103, 116],
  preadv2: [327, 286],
  pwritev2: [328, 287],
  cachestat: [451],
};

/** Calls that the C library replaces by others when they do not exist. */
const ABSENT: Calls = {
  clone3: [435],
  futex_waitv: [449],
  futex_wake: [454],
  futex_wait: [455],
  futex_requeue: [456],
};
const FORKS: Calls = { fork: [57, undefined], vfork: [58, undefined] };
const GRANTED: Calls = { flock: [73, 32] };

/** Calls whose arguments decide: see `checks`. */
const CHECKED = {
  clone: [56, 220],
  kill: [62, 129],
  tkill: [200, 130],
  rt_sigqueueinfo: [129, 138],
  tgkill: [234, 131],
  rt_tgsigqueueinfo: [297, 240],
  fcntl: [72, 25],
  futex: [202, 98],
  prlimit64: [302, 261],
  socketpair: [53, 199],
} as const satisfies Calls;

const CHECKED_CALLS = Object.keys(CHECKED) as (keyof typeof CHECKED)[];

const COMPUTING: Calls = {
  // open descriptors
  read: [0, 63],
  write: [1, 64],
  close: [3, 57],
  fstat: [5, 80],
  lseek: [8, 62],
  pread64: [17, 67],
  writev: [20, 66],
  // memory
  mmap: [9, 222],
  mprotect: [10, 226],
  munmap: [11, 215],
  brk: [12, 214],
  mremap: [25, 216],
  madvise: [28, 233],
  pkey_mprotect: [329, 288],
  // the process may signal itself: WebAssembly engines handle faults by signals
  rt_sigaction: [13, 134],
  rt_sigprocmask: [14, 135],
  rt_sigreturn: [15, 139],
  sigaltstack: [131, 132],
  restart_syscall: [219, 128],
  // time and randomness
  gettimeofday: [96, 169],
  time: [201, undefined],
  clock_gettime: [228, 113],
  clock_getres: [229, 114],
  clock_nanosleep: [230, 115],
  nanosleep: [35, 101],
  getrusage: [98, 165],
  getrandom: [318, 278],
  // the calling process itself
  sched_yield: [24, 124],
  getpid: [39, 172],
  gettid: [186, 178],
  rseq: [334, 293],
  exit: [60, 93],
  exit_group: [231, 94],
};

const AUDIT_ARCH = [0xc000003e, 0xc00000b7] as const;

const LOAD = 0x20; // BPF_LD | BPF_W | BPF_ABS
const EQUAL = 0x15; // BPF_JMP | BPF_JEQ | BPF_K
const AT_LEAST = 0x35; // BPF_JMP | BPF_JGE | BPF_K
const ANY_BIT = 0x45; // BPF_JMP | BPF_JSET | BPF_K
const AND = 0x54; // BPF_ALU | BPF_AND | BPF_K
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
const argument = (index: number) => 16 + 8 * index;
const upperHalf = (index: number) => argument(index) + 4;

/** x86-64 calls from here on use the x32 table. */
const X32 = 0x40000000;
const CLONE_THREAD = 0x00010000;
const SIGKILL = 9;
const FUTEX_PRIVATE_FLAG = 128;
const SOCK_TYPE_MASK = 0xf;
const SOCK_STREAM = 1;
/** F_SETLK, F_SETLKW, F_OFD_SETLK, F_OFD_SETLKW. */
const LOCKING = [6, 7, 37, 38];
/** F_SETOWN, F_SETSIG, F_SETOWN_EX, F_SETLEASE, F_GETLEASE, F_NOTIFY, F_SETPIPE_SZ, F_GETPIPE_SZ. */
const SIGNALLING = [8, 10, 15, 1024, 1025, 1026, 1031, 1032];

/** Jumps go to a label, or over a number of steps; without either, to the next step. */
type Step = readonly [code: number, value: number, ifTrue?: string | number | undefined, ifFalse?: string];

/** A call's number, and the label where it is decided. */
interface Rule {
  readonly number: number;
  readonly label: string;
}

/** Filter code for each checked call: a label and its steps. */
const checks: Readonly<Record<keyof typeof CHECKED, readonly [label: string, ...Step[]]>> = {
  clone: ["clone", [LOAD, argument(0)], [ANY_BIT, CLONE_THREAD, "allow", "fork"]],
  kill: ["signal 1", [LOAD, argument(1)], [EQUAL, SIGKILL, "kill", "allow"]],
  tkill: ["signal 1"],
  rt_sigqueueinfo: ["signal 1"],
  tgkill: ["signal 2", [LOAD, argument(2)], [EQUAL, SIGKILL, "kill", "allow"]],
  rt_tgsigqueueinfo: ["signal 2"],
  fcntl: [
    "fcntl",
    [LOAD, argument(1)],
    ...LOCKING.map((command): Step => [EQUAL, command, "grant"]),
    ...SIGNALLING.map((command): Step => [EQUAL, command, "deny"]),
    [RETURN, ALLOW],
  ],
  // Shared futexes are identified by the mapped file, which two programs may both have mapped.
  futex: ["futex", [LOAD, argument(1)], [ANY_BIT, FUTEX_PRIVATE_FLAG, "allow", "again"]],
  prlimit64: [
    "prlimit64",
    [LOAD, argument(2)],
    [EQUAL, 0, undefined, "deny"],
    [LOAD, upperHalf(2)],
    [EQUAL, 0, "allow", "deny"],
  ],
  // Datagrams could be sent to a name.
  socketpair: [
    "socketpair",
    [LOAD, argument(1)],
    [AND, SOCK_TYPE_MASK],
    [EQUAL, SOCK_STREAM, "allow", "deny"],
  ],
};

function to(column: 0 | 1, label: string, calls: Calls): Rule[] {
  return Object.values(calls)
    .map((numbers) => (numbers.length === 1 ? numbers[0] : numbers[column]))
    .filter((number) => number !== undefined)
    .map((number) => ({ number, label }));
}

/**
 * Finds a call's rule by bisection. The kernel evaluates every number when a filter is installed, which happens for
 * each program: a linear chain of rules took longer than the fork.
 * @param rules in ascending order of number
 */
function search(rules: readonly Rule[], otherwise: string): Step[] {
  if (rules.length <= 2) {
    return rules.map(
      ({ number, label }, i): Step =>
        i === rules.length - 1 ? [EQUAL, number, label, otherwise] : [EQUAL, number, label],
    );
  }
  const middle = rules.length >> 1;
  const lower = search(rules.slice(0, middle), otherwise);
  const upper = search(rules.slice(middle), otherwise);
  return [[AT_LEAST, rules[middle]!.number, lower.length], ...lower, ...upper];
}

/** @param otherwise label for calls that no rule names. */
function assemble(
  column: 0 | 1,
  rules: readonly Rule[],
  { otherwise, mayFork = false }: { readonly otherwise: string; readonly mayFork?: boolean },
): Buffer {
  const steps: Step[] = [
    [LOAD, ARCH],
    [EQUAL, AUDIT_ARCH[column], undefined, "kill"],
    [LOAD, NUMBER],
    [AT_LEAST, X32, "kill"],
    ...search(
      rules.toSorted((a, b) => a.number - b.number),
      otherwise,
    ),
  ];
  const labels = new Map<string, number>();
  const block = (label: string, ...lines: Step[]) => {
    if (lines.length === 0) return;
    labels.set(label, steps.length);
    steps.push(...lines);
  };
  for (const [label, ...lines] of Object.values(checks)) block(label, ...lines);
  block("deny", [RETURN, errno(EPERM)]);
  block("fork", [RETURN, mayFork ? ALLOW : errno(EAGAIN)]);
  block("again", [RETURN, errno(EAGAIN)]);
  block("absent", [RETURN, errno(ENOSYS)]);
  block("grant", [RETURN, errno(0)]);
  block("allow", [RETURN, ALLOW]);
  block("kill", [RETURN, KILL]);
  return encode(steps, labels);
}

function encode(steps: readonly Step[], labels: ReadonlyMap<string, number>): Buffer {
  const bytes = Buffer.alloc(8 * steps.length);
  for (const [at, [code, value, ifTrue, ifFalse]] of steps.entries()) {
    const jump = (to: string | number = 0) => (typeof to === "number" ? to : labels.get(to)! - at - 1);
    bytes.writeUInt16LE(code, 8 * at);
    bytes.writeUInt8(jump(ifTrue), 8 * at + 2);
    bytes.writeUInt8(jump(ifFalse), 8 * at + 3);
    bytes.writeUInt32LE(value >>> 0, 8 * at + 4);
  }
  return bytes;
}
