import { type ChildProcess, fork } from "node:child_process";
import { randomUUID } from "node:crypto";
import { closeSync, openSync, unlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { type JobEnd, JobProgress, type JobResult, type VerificationJob } from "./verification-job.ts";

/** What a process may hold beside its heap: Node itself, tables, buffers, WebAssembly; in MiB. */
export const BESIDE_HEAP_MB = 384;
const TAIL_CHARS = 4000;
/** How long the last words of a dead process may take to arrive. */
const LAST_WORDS_MS = 200;
/** How V8 ends a process whose heap is full, or in which something is longer than any heap. */
const OUT_OF_MEMORY =
  /JavaScript heap out of memory|Allocation failed|invalid size error|process out of memory/;
const CRASH_REPORT = /<--- Last few GCs --->|^FATAL ERROR|^# Fatal|^----- Native stack trace/m;

type Loss = Exclude<JobEnd, { kind: "done" }>;

export interface VerifierProcessOptions {
  /** Limit of the heap. */
  readonly heapMb: number;
  /** Takes what verifiers print, which must not mix with what `hone` prints for machines. */
  readonly print: (text: string) => void;
  readonly onExit: () => void;
}

/**
 * A process that judges one job at a time, with limits that hold: a heap that is full, a loop, an exit or a crash costs
 * this process alone. It ends itself when its parent is gone.
 */
export class VerifierProcess {
  readonly pid: number;
  readonly #child: ChildProcess;
  readonly #progress: JobProgress;
  #settle: ((end: JobEnd) => void) | undefined;
  #end: Loss | undefined;
  #tail = "";

  /** Throws what the system says where it gives no file or no process. */
  constructor({ heapMb, print, onExit }: VerifierProcessOptions) {
    const path = join(tmpdir(), `hone-verifier-${randomUUID()}`);
    const fd = openSync(path, "wx+", 0o600);
    unlinkSync(path);
    this.#progress = new JobProgress(fd);
    const isSource = import.meta.url.endsWith(".ts");
    const main = new URL(isSource ? "./verifier-main.ts" : "./verifier-main.js", import.meta.url);
    this.#child = fork(fileURLToPath(main), [String(heapMb + BESIDE_HEAP_MB)], {
      execArgv: [`--max-old-space-size=${heapMb}`, ...(isSource ? ["--import", tsxUrl()] : [])],
      serialization: "advanced",
      stdio: ["pipe", "pipe", "pipe", fd, "ipc"], // the first is never written to: its end tells of ours
      detached: true, // a group of its own: an interrupt from the terminal is for `hone` to handle
    });
    this.pid = this.#child.pid ?? 0;
    for (const stream of [this.#child.stdout!, this.#child.stderr!])
      stream.setEncoding("utf8").on("data", (text: string) => this.#heard(text, print));
    this.#child.stdin!.on("error", () => {}); // the end of a dead one
    this.#child.on("message", (result) => this.#settled({ kind: "done", ...(result as JobResult) }));
    const ended = async (how: string) => {
      await this.#lastWords();
      this.#end ??= this.#endOf(how);
      closeSync(fd);
      onExit();
      this.#settled(this.#end);
    };
    this.#child.once("exit", (code, signal) => void ended(signal ?? `exit code ${code}`));
    this.#child.once("error", (error) => void (this.pid === 0 && ended(error.message)));
  }

  /** Judges a job. Never rejects: what becomes of the process is in the answer. */
  judge(job: VerificationJob): Promise<JobEnd> {
    if (this.#end) return Promise.resolve(this.#end);
    return new Promise((resolve) => {
      this.#settle = resolve;
      this.#child.send(job, () => {}); // where it cannot be sent, the process has ended
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

  /** Waits for what the process had written, but not for those it started, which may hold its pipes. */
  async #lastWords(): Promise<void> {
    const closed = new Promise((resolve) => this.#child.once("close", resolve));
    let timer: NodeJS.Timeout | undefined;
    const enough = new Promise((resolve) => (timer = setTimeout(resolve, LAST_WORDS_MS)));
    await Promise.race([closed, enough]);
    clearTimeout(timer);
    for (const stream of this.#child.stdio) stream?.destroy();
  }

  #endOf(how: string): Loss {
    const { why, phase, member, elapsedMs } = this.#progress.readEnd();
    const kind = why === "unknown" ? (OUT_OF_MEMORY.test(this.#tail) ? "exhausted" : "lost") : why;
    const said = /^\S*Error\b.*$/m.exec(this.#tail)?.[0].slice(0, 200);
    return { kind, phase, member, elapsedMs, cause: `${how}${said && kind === "lost" ? `: ${said}` : ""}` };
  }
}

/** Where processes and threads that run from source find the TypeScript loader, whatever the working directory. */
export function tsxUrl(): string {
  return pathToFileURL(createRequire(import.meta.url).resolve("tsx")).href;
}
