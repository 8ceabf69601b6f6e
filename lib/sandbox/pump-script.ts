/**
 * Moves bytes between the host (zygote.ts) and programs, and enforces the limits on output. Part of zygote-script.ts,
 * in Python. What programs write is copied and never parsed.
 */
export const PUMP = `
HONE_REQUEST = struct.Struct("<IIIIQII")
HONE_RESULT = struct.Struct("<IBiIIIII")
HONE_CALL_OFF = 0xffffffff

class HonePump:
    def __init__(self, door):
        self.door = door
        self.poll = select.poll()
        self.runs = {}
        self.streams = {}
        self.held = bytearray()

    def run(self):
        self.poll.register(0, select.POLLIN)
        self.poll.register(self.door, select.POLLIN)
        while True:
            for fd, _ in self.poll.poll():
                if fd == 0:
                    self.request()
                elif fd == self.door.fileno():
                    self.ended()
                elif fd in self.streams:
                    number, which = self.streams[fd]
                    self.feed(number, fd) if which is None else self.collect(number, fd, which)

    def request(self):
        part = os.read(0, 1 << 16)
        if not part:
            os._exit(0)
        self.held += part
        while len(self.held) >= HONE_REQUEST.size:
            number, size, wall, seconds, memory, *caps = HONE_REQUEST.unpack_from(self.held)
            if size == HONE_CALL_OFF:
                del self.held[:HONE_REQUEST.size]
                if number in self.runs:
                    self.stop(number)
                continue
            if len(self.held) < HONE_REQUEST.size + size:
                return
            job = bytes(self.held[HONE_REQUEST.size:HONE_REQUEST.size + size])
            del self.held[:HONE_REQUEST.size + size]
            self.start(number, job, wall, seconds, memory, (caps[0], caps[1], caps[0]))

    def start(self, number, job, wall, seconds, memory, caps):
        theirs, ours = os.pipe()
        fds = [theirs]
        os.set_blocking(ours, False)
        self.watch(ours, select.POLLOUT, number, None)
        reading = []
        for which in range(3):
            read, write = os.pipe()
            fds.append(write)
            reading.append(read)
            self.watch(read, select.POLLIN, number, which)
        self.runs[number] = {
            "job": memoryview(job), "caps": caps, "got": (bytearray(), bytearray(), bytearray()),
            "open": 3, "end": None, "overflow": False,
        }
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, struct.pack("4i", *fds))]
        self.order(HONE_ORDER.pack(HONE_START, number, wall, seconds, memory), rights)
        for fd in fds:
            os.close(fd)

    def stop(self, number):
        self.order(HONE_ORDER.pack(HONE_KILL, number, 0, 0, 0))

    def order(self, data, rights=()):
        try:
            self.door.sendmsg([data], rights)
        except ConnectionError:
            os._exit(1)  # the zygote has said why, and its end was not heard of yet

    def watch(self, fd, event, number, which):
        self.streams[fd] = (number, which)
        self.poll.register(fd, event)

    def forget(self, fd):
        del self.streams[fd]
        self.poll.unregister(fd)
        os.close(fd)

    def feed(self, number, fd):
        run = self.runs.get(number)
        try:
            if run is not None:
                run["job"] = run["job"][os.write(fd, run["job"]):]
            if run is None or not run["job"]:
                self.forget(fd)
        except BlockingIOError:
            pass
        except BrokenPipeError:
            self.forget(fd)

    def collect(self, number, fd, which):
        run = self.runs[number]
        got, cap = run["got"][which], run["caps"][which]
        part = os.read(fd, 1 << 16)
        room = cap - len(got)
        got += part[:room]
        if len(part) > room:
            run["overflow"] = True
            self.stop(number)
        if not part or run["overflow"]:
            self.forget(fd)
            run["open"] -= 1
            self.finish(number)

    def ended(self):
        try:
            data = self.door.recv(64)
        except ConnectionResetError:
            data = b""
        if not data:
            os._exit(1)  # the zygote has said why
        number, *end = HONE_END.unpack(data)
        self.runs[number]["end"] = end
        self.finish(number)

    def finish(self, number):
        run = self.runs[number]
        if run["end"] is None or run["open"]:
            return
        del self.runs[number]
        why, code, elapsed, cpu = run["end"]
        if run["overflow"]:
            why = HONE_OVERFLOW
        got = run["got"]
        hone_write(1, HONE_RESULT.pack(number, why, code, elapsed, cpu, *map(len, got)) + b"".join(got))
`;
