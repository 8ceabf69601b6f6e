import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childProgram } from "../fixtures/child-program.ts";

const CHILD = await childProgram(fileURLToPath(new URL("./client-child.ts", import.meta.url)));

/** Starts a process of client-child.ts and reads its output. */
export class Client implements AsyncDisposable {
  readonly said: string[] = [];
  readonly #process: ChildProcess;
  #errors = "";
  #hasEnded = false;
  #news: () => void = () => {};

  constructor(url: string, run: string, what: string, name?: string) {
    const args = [...CHILD, url, run, what, ...(name === undefined ? [] : [name])];
    this.#process = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "pipe"] });
    let rest = "";
    this.#process.stdout!.on("data", (chunk) => {
      const lines = `${rest}${chunk}`.split("\n");
      rest = lines.pop()!;
      this.said.push(...lines);
      this.#news();
    });
    this.#process.stderr!.on("data", (chunk) => {
      this.#errors += chunk;
    });
    // not "exit", which may come before the process's last line
    this.#process.on("close", () => {
      this.#hasEnded = true;
      this.#news();
    });
  }

  /** Resolves when the process has printed `count` lines that begin with `what`. Rejects if it ends before. */
  async hear(what: string, count = 1): Promise<string> {
    for (;;) {
      const heard = this.said.filter((line) => line.startsWith(what));
      if (heard.length >= count) return heard[count - 1]!;
      if (this.#hasEnded) throw new Error(`the process ended: ${this.#errors}`);
      await new Promise<void>((resolve) => {
        this.#news = resolve;
      });
    }
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async kill(): Promise<void> {
    if (this.#hasEnded) return;
    this.#process.kill("SIGKILL");
    await once(this.#process, "close");
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.kill();
  }
}
