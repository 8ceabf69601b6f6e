import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { HoneError } from "../errors.ts";
import { type RoleEnvironment, roleVariables } from "./environment.ts";
import { ROLE_EXIT } from "./role.ts";

/** Ends in a row, none of them after a while of work, after which a place stays empty and the run ends. */
const MOST_RESTARTS = 6;
const LONG_ENOUGH_MS = 30_000;
const FIRST_PAUSE_MS = 200;
const GRACE_MS = 5_000;

export interface Place extends Pick<RoleEnvironment, "role" | "rank" | "worldSize" | "runId" | "store"> {}

export interface SupervisorOptions {
  /** Where each process writes what it has to say. */
  readonly logs: string;
  /** Of the core, in each process. */
  readonly threads: number;
  /** Before a process takes a place: whatever was there before may not write any more. Returns its epoch. */
  readonly onStart: (place: Place) => Promise<number>;
  /** A place cannot be kept: HONE_ERR_STATE with the last words of its process. */
  readonly onFailure: (error: HoneError) => void;
  /** Decides instead of the supervisor whether a process is started again. Default: always. */
  readonly onExit?: (place: Place) => boolean;
}

/** How a place is filled, for whoever watches. */
export interface PlaceStatus {
  readonly role: RoleEnvironment["role"];
  readonly rank: number;
  readonly epoch: number;
  readonly pid: number | undefined;
  readonly restarts: number;
  readonly startedMs: number;
}

interface Child {
  readonly place: Place;
  process: ChildProcess | undefined;
  epoch: number;
  restarts: number;
  inARow: number;
  startedMs: number;
}

/** Keeps processes of a fleet alive on this machine: one that ends is started again, after pauses that grow. */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #children: Child[] = [];
  readonly #killAll = () => this.#signal("SIGKILL");
  #closed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    mkdirSync(options.logs, { recursive: true });
    process.once("exit", this.#killAll);
  }

  get statuses(): readonly PlaceStatus[] {
    return this.#children.map(({ place: { role, rank }, process: child, epoch, restarts, startedMs }) => ({
      role,
      rank,
      epoch,
      pid: child?.pid,
      restarts,
      startedMs,
    }));
  }

  async start(place: Place): Promise<void> {
    const child: Child = { place, process: undefined, epoch: 0, restarts: 0, inARow: 0, startedMs: 0 };
    this.#children.push(child);
    await this.#fill(child);
  }

  /** Ends one process at once; it is started again. False if there is none. */
  kill(role: Place["role"], rank: number, signal: NodeJS.Signals = "SIGKILL"): boolean {
    const child = this.#children.find(({ place }) => place.role === role && place.rank === rank);
    return child?.process?.kill(signal) ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    const ends = this.#children.flatMap(({ process: child }) => (child ? [ended(child)] : []));
    this.#signal("SIGTERM");
    this.#signal("SIGCONT"); // who was stopped hears nothing
    const timer = setTimeout(this.#killAll, GRACE_MS);
    await Promise.all(ends);
    clearTimeout(timer);
    process.removeListener("exit", this.#killAll);
  }

  #signal(signal: NodeJS.Signals): void {
    for (const { process: child } of this.#children) child?.kill(signal);
  }

  async #fill(child: Child): Promise<void> {
    const { place } = child;
    const { logs, threads, onStart } = this.#options;
    child.epoch = await onStart(place);
    if (this.#closed) return;
    child.startedMs = Date.now();
    const log = openSync(logOf(logs, place), "a");
    const main = fileURLToPath(
      new URL(import.meta.url.endsWith(".ts") ? "role-main.ts" : "role-main.js", import.meta.url),
    );
    const loader = main.endsWith(".ts") ? ["--import", "tsx"] : [];
    const process_ = spawn(process.execPath, [...loader, main], {
      stdio: ["ignore", log, log, "ipc"],
      env: {
        ...process.env,
        HONE_THREADS: String(threads),
        ...roleVariables({ ...place, epoch: child.epoch }),
      },
    });
    closeSync(log);
    child.process = process_;
    void ended(process_).then((code) => this.#ended(child, code));
  }

  #ended(child: Child, code: number | null): void {
    child.process = undefined;
    if (this.#closed || this.#options.onExit?.(child.place) === false) return;
    child.inARow = Date.now() - child.startedMs > LONG_ENOUGH_MS ? 0 : child.inARow + 1;
    child.restarts += 1;
    if (code === ROLE_EXIT.config || child.inARow > MOST_RESTARTS) {
      this.#options.onFailure(this.#given(child));
      return;
    }
    const again = () => this.#fill(child).catch((error) => this.#options.onFailure(error));
    setTimeout(again, FIRST_PAUSE_MS * 2 ** (child.inARow - 1)).unref();
  }

  #given({ place, inARow }: Child): HoneError {
    const path = logOf(this.#options.logs, place);
    const words = readFileSync(path, "utf8").trimEnd().split("\n").slice(-4).join("\n  ");
    return new HoneError(
      "HONE_ERR_STATE",
      `${place.role} ${place.rank} ended ${inARow} time(s) in a row and is given up; it said last:\n  ${words}`,
      { hint: `All it said is in ${path}.` },
    );
  }
}

const logOf = (logs: string, { role, rank }: Place): string => join(logs, `${role}-${rank}.log`);

/** The exit code; null where a signal ended it, or it never began. */
const ended = (child: ChildProcess): Promise<number | null> =>
  new Promise((resolve) => {
    child.once("exit", (code) => resolve(code));
    child.once("error", () => resolve(null));
  });
