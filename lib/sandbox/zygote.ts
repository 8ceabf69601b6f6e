import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Socket } from "node:net";
import type { ProcessEnd } from "./process-end.ts";
import { STARVED_TIMES } from "./python-sandbox.ts";
import { HOST_PROC_FD } from "./zygote-script.ts";

/** How to start the pump (zygote-script.ts) inside the sandbox's containment. */
export interface ZygotePlan {
  readonly command: string;
  readonly args: readonly string[];
  /** User and group as which programs run; only root may set this. */
  readonly user?: number;
}

export interface ZygoteRun {
  readonly job: Buffer;
  readonly wallMs: number;
  /** Seconds of processor time after which the kernel ends the program. */
  readonly cpuSeconds: number;
  readonly memoryBytes: number;
  /** Limits of standard output and of the report, each, and of standard error. */
  readonly outputBytes: number;
  readonly stderrBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** An empty file for the command that starts the pump. */
export const NOTHING_FD = HOST_PROC_FD + 1;

const REQUEST_BYTES = 32;
const RESULT_BYTES = 29;
const CALL_OFF = 0xffffffff;
const ENDS = ["exited", "too-slow", "too-much-output"] as const;
/** Time after a program's limit for which its end is awaited before the zygote is given up. */
const GRACE_MS = 10_000;
const STDERR_CHARS = 2000;

interface Pending {
  settle(end: ProcessEnd | Error): void;
}

/**
 * A Python interpreter that is started once and from which a confined process is forked for each run. It lives as
 * long as its thread; while nothing runs it keeps no event loop alive.
 */
export class Zygote {
  readonly #child: ChildProcess;
  readonly #pending = new Map<number, Pending>();
  #held: Buffer = Buffer.alloc(0);
  #next = 0;
  #stderr = "";
  #lost: Error | undefined;

  constructor({ command, args, user }: ZygotePlan) {
    const opened = ["/proc", "/dev/null"].map((path) => openSync(path, "r"));
    const stdio = ["pipe", "pipe", "pipe", ...opened];
    this.#child = spawn(command, args, {
      env: { PATH: process.env["PATH"] ?? "" },
      stdio: stdio as StdioOptions,
      ...(user === undefined ? {} : { uid: user, gid: user }),
    });
    for (const fd of opened) closeSync(fd);
    const [input, output, complaints] = this.#sockets();
    input.on("error", () => {});
    output.on("data", (chunk: Buffer) => this.#take(chunk));
    complaints.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-STDERR_CHARS);
    });
    this.#child.on("error", (cause) => this.#lose(cause));
    this.#child.on("close", (code, signal) => {
      const how = signal === null ? `with exit code ${code}` : `by ${signal}`;
      this.#lose(new Error(this.#stderr.trim() || `Python was not reached: ${command} ended ${how}`));
    });
    this.#hold(false);
  }

  /** True if the zygote can still run programs, as far as is known. */
  get isAlive(): boolean {
    return this.#lost === undefined;
  }

  /**
   * How the program ended and its output on descriptors 1, 2 and 3. Rejects if the program is not responsible: an
   * external process killed it, or the zygote. If `signal` aborts, the end is `aborted`.
   */
  run({ job, signal, ...limits }: ZygoteRun): Promise<ProcessEnd> {
    return new Promise((resolve, reject) => {
      if (this.#lost) return reject(this.#lost);
      if (signal?.aborted) return resolve(ABORTED);
      const number = this.#next++ % CALL_OFF;
      const callOff = () => {
        this.#send(requestOf(number, CALL_OFF, limits));
        this.#settle(number, ABORTED);
      };
      const last = limits.wallMs * STARVED_TIMES + GRACE_MS;
      const guard = setTimeout(() => this.#child.kill("SIGKILL"), last);
      this.#pending.set(number, {
        settle(end) {
          clearTimeout(guard);
          signal?.removeEventListener("abort", callOff);
          if (end instanceof Error) reject(end);
          else resolve(end);
        },
      });
      signal?.addEventListener("abort", callOff, { once: true });
      this.#hold(true);
      this.#send(requestOf(number, job.length, limits));
      this.#send(job);
    });
  }

  #take(chunk: Buffer): void {
    this.#held = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    for (;;) {
      if (this.#held.length < RESULT_BYTES) return;
      const sizes = [17, 21, 25].map((at) => this.#held.readUInt32LE(at));
      const total = RESULT_BYTES + sizes.reduce((sum, size) => sum + size, 0);
      if (this.#held.length < total) return;
      const result = this.#held.subarray(0, total);
      this.#held = this.#held.subarray(total);
      this.#settle(result.readUInt32LE(0), endOf(result, sizes));
    }
  }

  #settle(number: number, end: ProcessEnd | Error): void {
    const pending = this.#pending.get(number);
    this.#pending.delete(number);
    if (this.#pending.size === 0) this.#hold(false);
    pending?.settle(end);
  }

  #lose(cause: Error): void {
    this.#lost ??= cause;
    for (const number of this.#pending.keys()) this.#settle(number, this.#lost);
  }

  #send(bytes: Buffer): void {
    const [input] = this.#sockets();
    if (input.writable) input.write(bytes);
  }

  /** Sets whether the event loop stays alive for the zygote. */
  #hold(wanted: boolean): void {
    for (const handle of [this.#child, ...this.#sockets()]) {
      if (wanted) handle.ref();
      else handle.unref();
    }
  }

  #sockets(): [Socket, Socket, Socket] {
    const { stdin, stdout, stderr } = this.#child;
    return [stdin, stdout, stderr] as unknown as [Socket, Socket, Socket];
  }
}

const ABORTED: ProcessEnd = { end: "aborted", status: 0, spentMs: 0, written: new Map() };

function requestOf(number: number, size: number, limits: Omit<ZygoteRun, "job" | "signal">): Buffer {
  const bytes = Buffer.alloc(REQUEST_BYTES);
  for (const [i, value] of [number, size, limits.wallMs, limits.cpuSeconds].entries())
    bytes.writeUInt32LE(value, 4 * i);
  bytes.writeBigUInt64LE(BigInt(limits.memoryBytes), 16);
  bytes.writeUInt32LE(limits.outputBytes, 24);
  bytes.writeUInt32LE(limits.stderrBytes, 28);
  return bytes;
}

function endOf(result: Buffer, sizes: readonly number[]): ProcessEnd | Error {
  const end = ENDS[result.readUInt8(4)];
  if (end === undefined) return new Error("something outside killed the program's process");
  const code = result.readInt32LE(5);
  const signal = code & 0x7f;
  const written = new Map<number, Buffer>();
  let at = RESULT_BYTES;
  for (const [i, size] of sizes.entries()) {
    written.set(i + 1, result.subarray(at, at + size));
    at += size;
  }
  const spentMs = result.readUInt32LE(9) / 1000;
  return { end, spentMs, status: signal === 0 ? code >> 8 : 128 + signal, written };
}
