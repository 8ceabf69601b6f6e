import { HARNESS } from "./harness.ts";
import { STAR_MODULES } from "./preamble.ts";
import { PUMP } from "./pump-script.ts";
import { STARVED_TIMES } from "./python-sandbox.ts";

/** Descriptors that the pump starts with, beside 0 (requests), 1 (results) and 2. */
export const HOST_PROC_FD = 3;

const TMP_BYTES = 64 << 20;
const FILE_BYTES = 16 << 20;
const STACK_BYTES = 120 << 20;
const OPEN_FILES = 64;
/** Threads of a program, the first one included. */
const TASKS = 64;

/**
 * Three kinds of process, all of one interpreter that is started once:
 * the pump (process 1) moves bytes between the host and programs; the zygote, forked before the first byte arrives,
 * never holds anything of a program, starts them, keeps their time and learns from the kernel how they end; and a
 * program's own process, forked from the zygote into namespaces and a /tmp of its own, which it cannot leave.
 */
export function zygoteScript(filter: Buffer): string {
  return `${HARNESS}${COMMON}${PROGRAM}${ZYGOTE}${PUMP}${MAIN}
import ${STAR_MODULES.join(", ")}
hone_filter = bytes.fromhex("${filter.toString("hex")}")
hone_main()
`;
}

const COMMON = `
import atexit, ctypes, gc, resource, select, signal, socket, struct, threading, time, _io

hone_c = ctypes.CDLL(None, use_errno=True)
HONE_NEWNS, HONE_NEWPID, HONE_NEWUSER = 0x20000, 0x20000000, 0x10000000

def hone_call(name, *args):
    done = getattr(hone_c, name)(*[ctypes.c_long(a) if isinstance(a, int) else a for a in args])
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, name + ": " + os.strerror(number))
    return done

def hone_write(fd, data):
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(fd, rest):]

# To the zygote: what to do, a number, limits. From it: the number, how the program ended, status, microseconds.
HONE_ORDER = struct.Struct("<BIIIQ")
HONE_END = struct.Struct("<IBiII")
HONE_START, HONE_KILL = 0, 1
HONE_EXITED, HONE_SLOW, HONE_OVERFLOW, HONE_LOST = 0, 1, 2, 3
`;

/** What the process of a program does before and after: shuts itself in, runs the job, ends as Python would. */
const PROGRAM = `
def hone_program(fds, seconds, memory):
    job, out, err, told = fds
    hone_call("unshare", HONE_NEWNS)
    hone_call("mount", b"tmpfs", b"/tmp", b"tmpfs", 6, b"size=${TMP_BYTES},mode=755")
    os.chdir("/tmp")
    parts = []
    while True:
        part = os.read(job, 1 << 20)
        if not part:
            break
        parts.append(part)
    job = marshal.loads(b"".join(parts))
    hone_give_input(hone_stdin(job))
    # 3 may be any of these: it is taken last.
    os.dup2(out, 1)
    os.dup2(err, 2)
    os.dup2(told, 3)
    os.closerange(4, ${OPEN_FILES})
    hone_confine(seconds, memory)
    hone_end(job)

def hone_give_input(text):
    if not text:
        return
    held = os.open("stdin", os.O_CREAT | os.O_RDWR, 0o400)
    hone_write(held, text)
    os.close(held)
    hone_call("mount", b"stdin", b"/dev/stdin", None, 4096, None)
    os.unlink("stdin")
    held = os.open("/dev/stdin", os.O_RDONLY)
    os.dup2(held, 0)
    os.close(held)

def hone_confine(seconds, memory):
    # A user namespace of its own, in which it is nobody: threads are counted there, and power over the mounts ends.
    hone_call("unshare", HONE_NEWUSER)
    for kind, limit in (
        ("AS", memory), ("CPU", seconds), ("FSIZE", ${FILE_BYTES}), ("STACK", ${STACK_BYTES}),
        ("NOFILE", ${OPEN_FILES}), ("NPROC", ${TASKS}), ("CORE", 0),
    ):
        kind = getattr(resource, "RLIMIT_" + kind)
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    hone_call("capset", struct.pack("<Ii", 0x20080522, 0), bytes(24))
    hone_call("prctl", 38, 1, 0, 0, 0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # The first process of its namespace ignores what would end others; abort() shall end it all the same.
    hone_c.signal(6, hone_c._exit)
    code = ctypes.create_string_buffer(hone_filter)
    hone_call("prctl", 22, 2, struct.pack("@HP", len(hone_filter) // 8, ctypes.addressof(code)), 0, 0)

def hone_end(job):
    write, leave, status = os.write, os._exit, 1
    def report(data):
        rest = memoryview(data)
        while rest:
            rest = rest[write(3, rest):]
    try:
        try:
            hone_run(job, report)
            status = 0
        except BaseException:
            sys.excepthook(*sys.exc_info())
        hone_finish()
    finally:
        leave(status)

def hone_finish():
    """What the end of an interpreter does that a program can see."""
    def flush(stream):
        try:
            stream.flush()
        except Exception:
            pass
    threading._shutdown()
    atexit._run_exitfuncs()
    flush(sys.stdout)
    flush(sys.stderr)
    # Finalisers run while what they call is still there.
    kept = (type, type(sys), type(flush), type(len))
    scope = sys.modules["__main__"].__dict__
    for name in list(scope):
        if not issubclass(type(scope[name]), kept):
            scope[name] = None
    gc.collect()
    for one in [sys.stdout, sys.stderr, sys.__stdout__] + gc.get_objects():
        if isinstance(one, _io._IOBase):
            flush(one)
`;

/** Starts programs and sees them end. Nothing a program was given or wrote is ever in its memory. */
const ZYGOTE = `
class HoneZygote:
    def __init__(self, door):
        self.door = door
        self.programs = {}
        self.own = hone_call("syscall", 434, os.getpid(), 0)

    def run(self):
        waking, wake = os.pipe()
        os.set_blocking(wake, False)
        os.set_blocking(waking, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        poll = select.poll()
        poll.register(self.door, select.POLLIN)
        poll.register(waking, select.POLLIN)
        compile("", "", "exec")  # the first one makes Python's syntax tree types, which takes two milliseconds
        gc.collect()
        gc.freeze()
        while True:
            due = min((p["due"] for p in self.programs.values()), default=None)
            ready = poll.poll(None if due is None else max(0, due - time.monotonic()) * 1000 + 1)
            for fd, _ in ready:
                if fd == waking:
                    os.read(waking, 4096)
                else:
                    self.obey()
            self.reap()
            self.keep_time()

    def obey(self):
        data, ancillary, _, _ = self.door.recvmsg(64, socket.CMSG_LEN(64))
        if not data:
            os._exit(0)
        fds = [fd for _, _, fds in ancillary for fd in struct.unpack("%di" % (len(fds) // 4), fds)]
        what, number, wall, seconds, memory = HONE_ORDER.unpack(data)
        if what == HONE_START:
            self.start(number, fds, wall / 1000, seconds, memory)
        else:
            self.kill([p for p in self.programs.values() if p["number"] == number])
        for fd in fds:
            os.close(fd)

    def start(self, number, fds, wall, seconds, memory):
        hone_call("setns", self.own, HONE_NEWPID)
        hone_call("unshare", HONE_NEWPID)
        now = time.monotonic()
        pid = os.fork()
        if pid == 0:
            try:
                signal.set_wakeup_fd(-1)
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                hone_program(fds, seconds, memory)
            except BaseException as problem:
                for fd in (fds[2], 2):
                    try:
                        os.write(fd, ascii(problem).encode())
                    except OSError:
                        pass
            finally:
                os._exit(1)
        self.programs[pid] = {
            "pid": pid, "number": number, "since": now, "wall": wall, "due": now + wall, "seconds": seconds, "slow": False,
        }

    def kill(self, programs):
        for program in programs:
            os.kill(program["pid"], signal.SIGKILL)

    def reap(self):
        while self.programs:
            ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
            if ended is None:
                return
            program = self.programs.pop(ended.si_pid)
            spent = self.spent(program)
            _, code, usage = os.wait4(ended.si_pid, 0)
            cpu = usage.ru_utime + usage.ru_stime
            end = HONE_EXITED
            # A program cannot send this signal: its filter and its limits see to that. It comes from us, from the kernel
            # when all processor time is spent, or from outside.
            if os.WIFSIGNALED(code) and os.WTERMSIG(code) == signal.SIGKILL:
                end = HONE_SLOW if program["slow"] or cpu >= program["seconds"] - 0.1 else HONE_LOST
            self.door.send(HONE_END.pack(program["number"], end, code, int(spent * 1e6), int(cpu * 1e6)))

    def keep_time(self):
        now = time.monotonic()
        for program in self.programs.values():
            if now < program["due"]:
                continue
            left = program["wall"] - self.spent(program)
            if left > 0 and now - program["since"] < ${STARVED_TIMES} * program["wall"]:
                program["due"] = now + left
            else:
                program["slow"] = True
                program["due"] = now + 1
                self.kill([program])

    def spent(self, program):
        """Seconds since a program started, without those in which it waited for a processor; short ones are not worth a look."""
        passed = time.monotonic() - program["since"]
        return passed if passed < 0.1 else max(0, passed - self.starved(program["pid"]))

    def starved(self, pid):
        """Seconds in which a program could have run, had there been a processor; of the thread that waited longest."""
        try:
            own = os.readlink("self", dir_fd=${HOST_PROC_FD})
            for host in self.read("%s/task/%s/children" % (own, own)).split():
                names = [line for line in self.read(host + "/status").splitlines() if line.startswith("NSpid:")]
                if names[0].split()[-2] == str(pid):
                    tasks = os.open(host + "/task", os.O_RDONLY, dir_fd=${HOST_PROC_FD})
                    try:
                        return max(int(self.read(task + "/schedstat", tasks).split()[1]) for task in os.listdir(tasks)) / 1e9
                    finally:
                        os.close(tasks)
        except (OSError, IndexError, ValueError):
            pass
        return 0

    def read(self, path, folder=${HOST_PROC_FD}):
        fd = os.open(path, os.O_RDONLY, dir_fd=folder)
        try:
            return os.read(fd, 1 << 16).decode()
        finally:
            os.close(fd)

def hone_zygote(door):
    os.dup2(os.open("/dev/stdin", os.O_RDONLY), 0)
    sink = os.open("/dev/null", os.O_WRONLY)
    os.dup2(sink, 1)
    os.dup2(sink, 2)
    resource.setrlimit(resource.RLIMIT_NOFILE, (${OPEN_FILES}, ${OPEN_FILES}))
    sys.argv[:] = ["solution.py"]
    sys.path[:] = [p for p in sys.path if p]
    os.environ.pop("MALLOC_ARENA_MAX", None)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)
    sys.stdin.buffer.raw.name = "<stdin>"
    HoneZygote(door).run()
`;

/** Starts both. */
const MAIN = `
def hone_main():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    if os.fork() == 0:
        ours.close()
        try:
            hone_zygote(theirs)
        finally:
            os._exit(1)
    theirs.close()
    HonePump(ours).run()
`;
