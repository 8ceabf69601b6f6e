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
/** Poll interval of the zygote while programs run. Seconds. */
const LOOK = 0.1;
/** A poll this much later shows that everything was stopped, frozen or starved. Seconds. */
const STOOD_STILL = 0.25;

/**
 * Three kinds of process, forked from one interpreter that is started once. The pump (process 1) moves bytes between
 * the host and programs. The zygote, forked before the first byte arrives, never holds data of a program; it starts
 * programs, measures their time and learns from the kernel how they end. A program's own process is forked from the
 * zygote into its own namespaces and /tmp, which it cannot leave.
 */
export function zygoteScript(filter: Buffer): string {
  return `${HARNESS}${COMMON}${PROGRAM}${ZYGOTE}${PUMP}${MAIN}
import ${STAR_MODULES.join(", ")}
hone_filter = ctypes.create_string_buffer(bytes.fromhex("${filter.toString("hex")}"), ${filter.length})
hone_filter_head = struct.pack("@HP", ${filter.length / 8}, ctypes.addressof(hone_filter))
hone_main()
`;
}

const COMMON = `
import atexit, ctypes, functools, gc, random, resource, select, signal, socket, struct, threading, time, _io, _random, _signal

# Calls keep the interpreter's lock, so that fork() is one of them.
hone_c = ctypes.PyDLL(None, use_errno=True)
HONE_NEWNS, HONE_NEWPID, HONE_NEWUSER = 0x20000, 0x20000000, 0x10000000

def hone_bind(name, *types):
    call = hone_c[name]
    call.argtypes = types
    def checked(*args):
        done = call(*args)
        if done < 0:
            number = ctypes.get_errno()
            raise OSError(number, name + ": " + os.strerror(number))
        return done
    return checked

hone_number, hone_text = ctypes.c_long, ctypes.c_char_p
hone_fork = hone_bind("fork")
hone_setns = hone_bind("setns", ctypes.c_int, ctypes.c_int)
hone_unshare = hone_bind("unshare", ctypes.c_int)
hone_mount = hone_bind("mount", hone_text, hone_text, hone_text, hone_number, hone_text)
hone_capset = hone_bind("capset", hone_text, hone_text)
hone_prctl = hone_bind("prctl", ctypes.c_int, hone_number, hone_number, hone_number, hone_number)
hone_pidfd = hone_bind("syscall", hone_number, hone_number, hone_number)
hone_seed = functools.partial(_random.Random.seed, random._inst)
hone_on_abort, hone_exit = hone_c.signal, hone_c._exit
HONE_NO_CAPABILITIES = struct.pack("<Ii", 0x20080522, 0)
hone_set_filter = hone_bind("prctl", ctypes.c_int, hone_number, hone_text, hone_number, hone_number)

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

/** Code of a program's process: confines itself, runs the job, exits as Python would. */
const PROGRAM = `
HONE_LIMITS = tuple((getattr(resource, "RLIMIT_" + kind), limit) for kind, limit in (
    ("FSIZE", ${FILE_BYTES}), ("STACK", ${STACK_BYTES}), ("NOFILE", ${OPEN_FILES}), ("NPROC", ${TASKS}), ("CORE", 0),
))

def hone_program(fds, seconds, memory):
    job, out, err, told = fds
    hone_unshare(HONE_NEWNS)
    hone_mount(b"tmpfs", b"/tmp", b"tmpfs", 6, b"size=${TMP_BYTES},mode=755")
    os.chdir("/tmp")
    parts = []
    while True:
        part = os.read(job, 1 << 16)
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
    hone_mount(b"stdin", b"/dev/stdin", None, 4096, None)
    os.unlink("stdin")
    held = os.open("/dev/stdin", os.O_RDONLY)
    os.dup2(held, 0)
    os.close(held)

def hone_confine(seconds, memory):
    # A user namespace of its own, in which it is nobody: threads are counted there, and power over the mounts ends.
    hone_unshare(HONE_NEWUSER)
    for kind, limit in ((resource.RLIMIT_AS, memory), (resource.RLIMIT_CPU, seconds), *HONE_LIMITS):
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(kind, (limit, limit))
    hone_capset(HONE_NO_CAPABILITIES, bytes(24))
    hone_prctl(38, 1, 0, 0, 0)
    _signal.signal(_signal.SIGINT, _signal.default_int_handler)
    # The first process of its namespace ignores what would end others; abort() shall end it all the same.
    hone_on_abort(6, hone_exit)
    hone_set_filter(22, 2, hone_filter_head, 0, 0)

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
    # With one thread and nothing to call there is nothing to wait for, and finding that out takes a while.
    if len(threading._active) > 1 or getattr(threading, "_threading_atexits", True):
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

/** Starts programs and waits for their ends. Its memory never holds a program's input or output. */
const ZYGOTE = `
class HoneZygote:
    def __init__(self, door):
        self.door = door
        self.poll = select.poll()
        self.programs = {}  # by a descriptor that tells of the end
        self.looked = time.monotonic()
        self.own = hone_pidfd(434, os.getpid(), 0)

    def run(self):
        self.poll.register(self.door, select.POLLIN)
        compile("", "", "exec")  # the first one makes Python's syntax tree types, which takes two milliseconds
        gc.collect()
        gc.freeze()
        while True:
            for fd, _ in self.wait():
                if fd in self.programs:
                    self.reap(fd)
                else:
                    self.obey()
            self.keep_time()

    def wait(self):
        """What is ready, nothing at the latest when it is time to look. A while in which all stood still is no program's."""
        due = min((p["due"] for p in self.programs.values()), default=None)
        wait = None if due is None else min(max(0, due - time.monotonic()), ${LOOK})
        ready = self.poll.poll(None if wait is None else wait * 1000 + 1)
        now = time.monotonic()
        stood = 0 if wait is None else now - self.looked - wait
        self.looked = now
        for program in self.programs.values() if stood > ${STOOD_STILL} else ():
            own = min(stood, now - program["since"])  # it may have begun meanwhile
            program["since"] += own
            program["due"] += own
        return ready

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
        hone_setns(self.own, HONE_NEWPID)
        hone_unshare(HONE_NEWPID)
        now = time.monotonic()
        # Not os.fork(): nothing but this thread is there, and what Python does for others costs as much as all the rest.
        pid = hone_fork()
        if pid == 0:
            try:
                hone_seed()
                hone_program(fds, seconds, memory)
            except BaseException as problem:
                for fd in (fds[2], 2):
                    try:
                        os.write(fd, ascii(problem).encode())
                    except OSError:
                        pass
            finally:
                os._exit(1)
        ended = hone_pidfd(434, pid, 0)
        self.poll.register(ended, select.POLLIN)
        self.programs[ended] = {
            "pid": pid, "number": number, "since": now, "wall": wall, "due": now + wall, "ran": None, "seconds": seconds,
            "slow": False,
        }

    def kill(self, programs):
        for program in programs:
            os.kill(program["pid"], signal.SIGKILL)

    def reap(self, ended):
        program = self.programs.pop(ended)
        self.poll.unregister(ended)
        os.close(ended)
        spent = self.spent(program)
        _, code, usage = os.wait4(program["pid"], 0)
        cpu = usage.ru_utime + usage.ru_stime
        end = HONE_EXITED
        # A program cannot send this signal: its filter and its limits see to that. It comes from us, from the kernel
        # when all processor time is spent, or from outside.
        if os.WIFSIGNALED(code) and os.WTERMSIG(code) == signal.SIGKILL:
            end = HONE_SLOW if program["slow"] or cpu >= program["seconds"] - 0.1 else HONE_LOST
        self.door.send(HONE_END.pack(program["number"], end, code, int(spent * 1e6), int(cpu * 1e6)))

    def keep_time(self):
        now = self.looked  # of a standstill since then only the next look tells
        for program in self.programs.values():
            if now < program["due"]:
                continue
            passed, (waited, ran, ready) = now - program["since"], self.times(program["pid"])
            left = program["wall"] - max(0, passed - waited)
            # The kernel counts a wait when it is over: until who is over its limit has run again, nothing is known.
            waits = left <= 0 and ready and program["ran"] in (None, ran)
            program["ran"] = ran if left <= 0 else None
            if (left > 0 or waits) and passed < ${STARVED_TIMES} * program["wall"]:
                program["due"] = now + max(left, 0.01)
            else:
                # One that waits for a processor without end is lost: that says nothing of it.
                # Known once, it stays: one that was ended for it may wait for a processor to end, which says nothing of it.
                program["slow"] = program["slow"] or (left <= 0 and not waits)
                program["due"] = now + 1
                self.kill([program])

    def spent(self, program):
        """Seconds since a program started, without those in which it waited for a processor; short ones are not worth a look."""
        passed = self.looked - program["since"]
        return passed if passed < 0.1 else max(0, passed - self.times(program["pid"])[0])

    def times(self, pid):
        """Seconds in which a program could have run, had there been a processor, of the thread that waited longest; in which it ran; whether it could run now."""
        try:
            own = os.readlink("self", dir_fd=${HOST_PROC_FD})
            for host in self.read("%s/task/%s/children" % (own, own)).split():
                names = [line for line in self.read(host + "/status").splitlines() if line.startswith("NSpid:")]
                if names[0].split()[-2] == str(pid):
                    return self.times_of(host + "/task")
        except (OSError, IndexError, ValueError):
            pass
        return 0, 0, False

    def times_of(self, path):
        tasks = os.open(path, os.O_RDONLY, dir_fd=${HOST_PROC_FD})
        try:
            ran, waited = zip(*([int(n) / 1e9 for n in self.read(task + "/schedstat", tasks).split()[:2]] for task in os.listdir(tasks)))
            ready = any(self.read(task + "/stat", tasks).rpartition(")")[2].split()[0] == "R" for task in os.listdir(tasks))
        finally:
            os.close(tasks)
        return max(waited), sum(ran), ready

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

/** Starts the zygote and runs the pump. */
const MAIN = `
def hone_main():
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    told = os.dup(2)  # programs close it before they begin
    if os.fork() == 0:
        ours.close()
        try:
            hone_zygote(theirs)
        except BaseException as problem:
            hone_write(told, ascii(type(problem).__name__ + ": " + str(problem))[1:-1].encode())
        finally:
            os._exit(1)
    os.close(told)
    theirs.close()
    HonePump(ours).run()
`;
