import { type ChildProcess, spawn } from "node:child_process";
import { basename, join } from "node:path";
import type { TurnOutcome } from "../../domains/environment.ts";
import { packageRoot } from "../../package-root.ts";
import { FrameReader, frame } from "./frames.ts";
import { OutputRelay } from "./output-relay.ts";

/** Python's answer to a request. */
export interface Reply {
  readonly about?: string;
  /** Result of an environment's step. */
  readonly outcome?: TurnOutcome;
  readonly score?: number;
  readonly values?: readonly (number | null | { readonly fault: string })[];
  readonly error?: string;
}

/** Time for an exited process to deliver the rest of its output. Milliseconds. */
const LAST_OUTPUT_MS = 200;

/** A Python process that runs reward_host.py for one user file. Answers requests in sequence. */
export class PythonProcess {
  readonly #child: ChildProcess;
  readonly #output: OutputRelay;
  readonly #ended: Promise<never>;
  #answer: ((reply: Reply) => void) | undefined;
  #isAlive = true;

  /**
   * @param print receives the process's output, each line prefixed by the file's name
   * @param env if given, the process leads its own process group; default: this process's environment and group
   */
  constructor(
    command: readonly string[],
    file: string,
    print: (text: string) => void,
    env?: NodeJS.ProcessEnv,
  ) {
    const [program, ...before] = command as [string, ...string[]];
    const host = join(packageRoot(), "lib/rewards/python/reward_host.py");
    this.#child = spawn(program, [...before, host], {
      stdio: ["pipe", "pipe", "pipe"],
      ...(env && { env, detached: true }),
    });
    this.#output = new OutputRelay(basename(file), print);
    this.#child.stderr!.setEncoding("utf8").on("data", (text: string) => this.#output.add(text));
    this.#child.stdin!.on("error", () => {}); // an error means that the process has ended, which its exit event reports
    this.#ended = new Promise<never>((_, reject) => {
      const end = (cause: string) => void this.#end(cause).then(reject);
      this.#child.once("error", ({ message }) => end(`${command.join(" ")} cannot be started: ${message}`));
      this.#child.once("exit", (code, signal) =>
        end(`the Python process ended (${signal ?? `exit code ${code}`})`),
      );
      this.#read(end);
    });
    this.#ended.catch(() => {}); // a pending request receives the error
  }

  get isAlive(): boolean {
    return this.#isAlive;
  }

  /** Rejects with the cause, and the last line that the process printed, if it exits before it answers. */
  ask(request: object): Promise<Reply> {
    this.#output.begin();
    const answered = new Promise<Reply>((resolve) => {
      this.#answer = resolve;
    });
    if (this.#isAlive) this.#child.stdin!.write(frame(request));
    return Promise.race([answered, this.#ended]);
  }

  /** Interrupts the call of an environment; its request is then answered with an error. */
  interrupt(): void {
    this.#child.kill("SIGINT");
  }

  /** Kills the process, which leads a process group, and everything that it started. */
  kill(): void {
    try {
      process.kill(-this.#child.pid!, "SIGKILL");
    } catch {
      this.#child.kill("SIGKILL"); // the process has ended, or was never started
    }
  }

  /** Closes the request pipe, which makes the process exit. */
  close(): void {
    this.#child.stdin!.end();
  }

  #read(end: (cause: string) => void): void {
    const frames = new FrameReader();
    this.#child.stdout!.on("data", (chunk: Buffer) => {
      try {
        for (const reply of frames.push(chunk)) this.#answer?.(reply as Reply);
      } catch (error) {
        end((error as Error).message);
        this.#child.kill("SIGKILL");
      }
    });
  }

  async #end(cause: string): Promise<Error> {
    this.#isAlive = false;
    await new Promise((resolve) => setTimeout(resolve, LAST_OUTPUT_MS));
    this.#output.end();
    const { lastLine } = this.#output;
    return new Error(lastLine === "" ? cause : `${cause}; it printed last: ${lastLine}`);
  }
}
