import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownModule } from "../../own-module.ts";
import { type JobEnd, JobProgress, type JobResult, type VerificationJob } from "./verification-job.ts";
import { verifierEnvironment } from "./verifier-environment.ts";

/**
 * Memory limit in MiB for everything outside the JavaScript heap: Node's own memory, tables, buffers, WebAssembly.
 */
export const BESIDE_HEAP_MB = 384;
const TAIL_CHARS = 4000;
/** Time to wait for the last output of an exited process. Milliseconds. */
const LAST_WORDS_MS = 200;
/** V8's messages when the heap is full, or a single object is larger than any heap. */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|Allocation failed|invalid size error|process out of memory/;
const CRASH_REPORT = /<--- Last few GCs --->|^FATAL ERROR|^# Fatal|^----- Native stack trace/m;

type Loss = Exclude<JobEnd, { kind: "done" }>;

export interface VerifierProcessOptions {
  /** Limit of the heap. */
  readonly heapMb: number;
  /** Environment variables passed to it in addition to those that every program needs. */
  readonly variables?: readonly string[];
  /** Receives verifiers' output, which must not mix with machine-readable output of `hone`. */
  readonly print: (text: string) => void;
  readonly onExit: () => void;
}

/**
 * A process that judges one job at a time and enforces its limits: a full heap, an endless loop, an exit or a crash
 * costs only this process. It exits when its parent dies.
 */
export class VerifierProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #progress: JobProgress;
  #settle: ((end: JobEnd) => void) | undefined;
  #end: Loss | undefined;
  #given = 0;
  #tail = "";

  /** Throws the system's error if it refuses a file or a process. */
  constructor({ heapMb, variables, print, onExit }: VerifierProcessOptions) {
    const path = join(tmpdir(), `hone-verifier-${randomUUID()}`);
    const fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    this.#progress = new JobProgress(fd);
    const main = ownModule("verifier-main", import.meta.url);
    this.#child = fork(main.path, [String(heapMb + BESIDE_HEAP_MB)], {
      execArgv: [`--max-old-space-size=${heapMb}`, ...main.execArgv],
      env: verifierEnvironment(process.env, variables),
      serialization: "advanced",
      stdio: ["pipe", "pipe", "pipe", fd, "ipc"], // stdin is a pipe: it closes when this process dies, which makes the verifier process exit
      detached: true, // starts a new process group, so that only `hone` receives an interrupt from the terminal
    });
    this.pid = this.#child.pid ?? 0;
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => this.#heard(text, print));
    this.#child.stdin!.on("error", () => {}); // ignores a write error: the process has died
    this.#child.on("message", (result) => this.#settled({ kind: "done", ...(result as JobResult) }));
    const ended = async (how: string) => {
      await this.#logTail();
      this.#end ??= this.#endOf(how);
      closeSync(fd);
      onExit();
      this.#settled(this.#end);
    };
    this.#child.once("exit", (code, signal) => void ended(signal ?? `exit code ${code}`));
    this.#child.once("error", (error) => void (this.pid === 0 && ended(error.message)));
  }

  /** Judges a job. Never rejects: if the process ends, the answer says how. */
  judge(job: VerificationJob): Promise<JobEnd> {
    if (this.#end) return Promise.resolve(this.#end);
    this.#given += 1;
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#child.send(job, () => {}); // if it cannot be sent, the process has ended
    });
  }

  #settled(end: JobEnd): void {
    this.#settle?.(end);
    this.#settle = undefined;
  }

  #heard(text: string, print: (text: string) => void): void {
    this.#tail = (this.#tail + text).slice(-TAIL_CHARS);
    if (!CRASH_REPORT.test(this.#tail)) print(text);
  }

  /** Waits for the process's remaining output, but not for its children, which may hold its pipes open. */
  async #logTail(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once("close", resolve));
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => (timer = setTimeout(resolve, LAST_WORDS_MS)));
    await Promise.race([closed, enough]);
    clearTimeout(timer);
    for (const stream of this.#child.stdio) stream?.destroy();
  }

  #endOf(how: string): Loss {
    const { why, phase, member, elapsedMs } = this.#progress.readEnd(this.#given);
    const kind = why === "unknown" ? (OUT_OF_MEMORY.test(this.#tail) ? "exhausted" : "lost") : why;
    const said = /^\S*Error\b.*$/m.exec(this.#tail)?.[0].slice(0, 200);
    return { kind, phase, member, elapsedMs, cause: `${how}${said && kind === "lost" ? `: ${said}` : ""}` };
  }
}
