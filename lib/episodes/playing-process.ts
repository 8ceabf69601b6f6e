import { verifierEnvironment } from "../rewards/pool/verifier-environment.ts";
import { PythonProcess, type Reply } from "../rewards/python/python-process.ts";
import { Semaphore } from "../shared/async/semaphore.ts";

/** An environment in a Python file, and the processes that play it. */
export interface PythonSource {
  /** Command that starts Python, without a shell. */
  readonly command: readonly string[];
  /** Absolute path of the Python file. */
  readonly file: string;
  /** Name of the class, or of a function that returns an object; empty for `Env`, or `Environment`. */
  readonly name: string;
  readonly processes: number;
  /** Time limit of one call in milliseconds, from the moment when its process begins it. */
  readonly limitMs: number;
  /** Environment variables passed to the processes in addition to those that every program needs. */
  readonly variables: readonly string[];
}

/** Importing torch, and the packages that `uv run` installs first, takes minutes on a cold machine. */
const LOAD_MS = 300_000;
/** Time in which a call that was interrupted must return, or the process is ended with all its episodes. */
const GRACE_MS = 1000;

/** Request format of environment_host.py. */
interface Request {
  readonly op: "open" | "reset" | "step" | "score";
  readonly episode?: number;
  readonly [more: string]: unknown;
}

/** A Python process with the states of its episodes. */
export class PlayingProcess {
  /** Number of episodes in progress. */
  episodes = 0;
  readonly #source: PythonSource;
  readonly #process: PythonProcess;
  readonly #one = new Semaphore(() => 1);
  #loaded: Promise<string> | undefined;

  constructor(source: PythonSource) {
    this.#source = source;
    const { command, file, variables } = source;
    const print = (text: string) => void process.stderr.write(text);
    this.#process = new PythonProcess(command, file, print, verifierEnvironment(process.env, variables));
  }

  get isAlive(): boolean {
    return this.#process.isAlive;
  }

  /** Imports the file, once. */
  load(): Promise<string> {
    this.#loaded ??= this.#ask({ op: "open" }, LOAD_MS).then(({ about }) => about!);
    this.#loaded.catch(() => {
      this.#loaded = undefined; // the user may repair the file: a later call tries again
    });
    return this.#loaded;
  }

  /**
   * Makes the first call of an episode, which counts as one of this process's until `leave`, or until a call
   * fails.
   */
  async begin(request: Request): Promise<void> {
    this.episodes += 1;
    try {
      await this.load();
    } catch (error) {
      this.leave();
      throw new Error(`it did not load: ${(error as Error).message}`);
    }
    await this.play(request);
  }

  /** Throws an error with the cause if Python raises, exceeds the limit or exits; it has then discarded the episode. */
  async play(request: Request): Promise<Reply> {
    try {
      return await this.#ask(request, this.#source.limitMs);
    } catch (error) {
      this.leave();
      throw error;
    }
  }

  leave(): void {
    this.episodes -= 1;
  }

  close(): void {
    this.#process.close();
  }

  async #ask(request: Request, limitMs: number): Promise<Reply> {
    const { file, name } = this.#source;
    const reply = await this.#one.run(() => this.#within(limitMs, { ...request, file, function: name }));
    if (reply.error !== undefined) throw new Error(reply.error);
    return reply;
  }

  /** At the limit the call is interrupted but not its process, which holds other episodes. A call that ignores this ends the process. */
  async #within(limitMs: number, request: Request): Promise<Reply> {
    let isLate = false;
    const late = () => {
      if (isLate) return this.#process.kill();
      isLate = true;
      this.#process.interrupt();
      timer = setTimeout(late, GRACE_MS);
    };
    let timer = setTimeout(late, limitMs);
    try {
      const reply = await this.#process.ask(request);
      if (!isLate) return reply;
    } catch (error) {
      if (!isLate) throw error;
    } finally {
      clearTimeout(timer);
    }
    throw new Error(`${request.op} took over ${limitMs} ms`);
  }
}
