import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { HoneError } from "../errors.ts";
import type { ProcessEnd } from "../metrics/index.ts";
import { ownModule } from "../own-module.ts";
import { APPENDING } from "../shared/files/plain-file.ts";
import { PROCESS_EXIT, type RoleEnvironment, roleVariables } from "./environment.ts";
import type { LastEnd } from "./heartbeat.ts";

/** Consecutive exits without a period of work after which a slot stays empty and the run ends. */
const MOST_RESTARTS = 6;
const LONG_ENOUGH_MS = 30_000;
const FIRST_PAUSE_MS = 200;
const GRACE_MS = 5_000;
/** Time for the other members of a group to leave after one of them exited. */
const LEAVE_MS = 3_000;

export interface Place extends Pick<RoleEnvironment, "role" | "rank" | "worldSize" | "runId" | "store"> {}

export interface SupervisorOptions {
  /** Folder of the processes' logs. */
  readonly logs: string;
  /** Threads of the core in each process. */
  readonly threads: number;
  /** Further variables of a process. */
  readonly environmentOf?: (place: Place) => NodeJS.ProcessEnv;
  /**
   * Called when slots of one group have no process, initially or after an exit: earlier processes may not write from
   * here on. Resolves to the epoch of the processes to start.
   */
  readonly onVacant: (places: readonly Place[], last?: LastEnd) => Promise<number>;
  /** Called when places cannot be kept filled, with HONE_ERR_STATE and the log tail of the process that exited first. */
  readonly onFailure: (error: HoneError) => void;
}

/** State of a place, for status displays. */
export interface PlaceStatus {
  readonly role: RoleEnvironment["role"];
  readonly rank: number;
  readonly epoch: number;
  readonly pid: number | undefined;
  /** When its process was started, by performance.now(). */
  readonly startedMs: number;
  readonly restarts: number;
  /** How the slot's last process ended. */
  readonly ended: ProcessEnd | undefined;
}

interface Child {
  readonly place: Place;
  process: ChildProcess | undefined;
  /** Size of its log in bytes when the process started. */
  logged: number;
  /** The supervisor ended it because it made no progress. */
  hung: boolean;
  ended: ProcessEnd | undefined;
}

/** Processes that live and end together: an actor, or all ranks of the trainer. */
interface RestartGroup {
  readonly children: readonly Child[];
  epoch: number;
  restarts: number;
  inARow: number;
  /** Start by a monotonic clock. Milliseconds. */
  startedMs: number;
  /** The process that ended first, while the others end. */
  first: (End & Pick<Child, "place" | "hung">) | undefined;
  /** Timer that kills the processes that have not exited by themselves. */
  leaving: NodeJS.Timeout | undefined;
}

/**
 * Keeps processes of a fleet running on this machine: restarts those that exit, with increasing pauses. When one
 * process of a group exits, the others are told to leave, killed if they do not, and all are restarted under a later
 * epoch.
 */
export class Supervisor implements AsyncDisposable {
  readonly #options: SupervisorOptions;
  readonly #groups: RestartGroup[] = [];
  readonly #killAll = () => signal(this.#children, "SIGKILL");
  #closed = false;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    mkdirSync(options.logs, { recursive: true });
    process.prependOnceListener("exit", this.#killAll); // before the exit handler removes the processes' log folder
  }

  get statuses(): readonly PlaceStatus[] {
    return this.#groups.flatMap(({ children, epoch, restarts, startedMs }) =>
      children.map(({ place: { role, rank }, process: child, ended }) => {
        return { role, rank, epoch, pid: child?.pid, startedMs, restarts, ended };
      }),
    );
  }

  /** Starts processes for places that live and end together. */
  async start(...places: readonly Place[]): Promise<void> {
    const children = places.map(vacant);
    const group: RestartGroup = {
      children,
      epoch: 0,
      restarts: 0,
      inARow: 0,
      startedMs: 0,
      first: undefined,
      leaving: undefined,
    };
    this.#groups.push(group);
    await this.#vacate(group);
    this.#fill(group);
  }

  /** Sends a signal to one process. Returns false if the place has none. */
  kill(role: Place["role"], rank: number, signal: NodeJS.Signals = "SIGKILL"): boolean {
    return this.#childAt(role, rank)?.process?.kill(signal) ?? false;
  }

  /** Ends a process that makes no progress, which counts as a failure of its work. Returns false if the process does not run. */
  endHung(role: Place["role"], rank: number): boolean {
    const child = this.#childAt(role, rank);
    if (child !== undefined) child.hung = true;
    return child?.process?.kill("SIGKILL") ?? false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    for (const { leaving } of this.#groups) clearTimeout(leaving);
    const ends = this.#children.flatMap(({ process: child }) => (child ? [ended(child)] : []));
    tellToLeave(this.#children);
    const timer = setTimeout(this.#killAll, GRACE_MS);
    await Promise.all(ends);
    clearTimeout(timer);
    process.removeListener("exit", this.#killAll);
  }

  #childAt(role: Place["role"], rank: number): Child | undefined {
    return this.#children.find(({ place }) => place.role === role && place.rank === rank);
  }

  get #children(): readonly Child[] {
    return this.#groups.flatMap(({ children }) => children);
  }

  async #vacate(group: RestartGroup, last?: LastEnd): Promise<void> {
    if (this.#closed) return;
    const places = group.children.map(({ place }) => place);
    group.epoch = await this.#options.onVacant(places, last);
  }

  #fill(group: RestartGroup): void {
    const { children } = group;
    if (this.#closed) return;
    group.startedMs = performance.now();
    group.first = undefined;
    for (const child of children) {
      child.hung = false;
      child.logged = statSync(logOf(this.#options.logs, child.place), { throwIfNoEntry: false })?.size ?? 0;
      child.process = this.#spawn(child.place, group.epoch);
      void ended(child.process).then((end) => this.#ended(group, child, end));
    }
  }

  #spawn(place: Place, epoch: number): ChildProcess {
    const { logs, threads, environmentOf } = this.#options;
    const log = openSync(logOf(logs, place), APPENDING);
    const main = ownModule("role-main", import.meta.url);
    const child = spawn(process.execPath, [...main.execArgv, main.path], {
      stdio: ["ignore", log, log, "ipc"],
      env: {
        ...process.env,
        HONE_THREADS: String(threads),
        ...roleVariables({ ...place, epoch }),
        ...environmentOf?.(place),
      },
    });
    closeSync(log);
    return child;
  }

  #ended(group: RestartGroup, child: Child, end: End): void {
    child.ended = { atMs: Date.now(), how: howOf(end), words: this.#logTail(child, 3) };
    child.process = undefined;
    if (this.#closed) return;
    group.first ??= { place: child.place, hung: child.hung, ...end };
    const left = group.children.filter(({ process: other }) => other !== undefined);
    if (left.length === 0) this.#again(group);
    if (left.length === 0 || group.leaving !== undefined) return;
    tellToLeave(left);
    group.leaving = setTimeout(() => signal(left, "SIGKILL"), LEAVE_MS);
  }

  #again(group: RestartGroup): void {
    clearTimeout(group.leaving);
    group.leaving = undefined;
    group.inARow = performance.now() - group.startedMs > LONG_ENOUGH_MS ? 1 : group.inARow + 1;
    group.restarts += 1;
    const first = group.first!;
    if (first.code === PROCESS_EXIT.config || group.inARow > MOST_RESTARTS) {
      this.#options.onFailure(this.#given(group));
      return;
    }
    const pauseMs = FIRST_PAUSE_MS * 2 ** (group.inARow - 1);
    // releases the leases now, not only when a replacement starts
    this.#vacate(group, isKilled(first) ? "killed" : "failed")
      .then(() => sleep(pauseMs, undefined, { ref: false }))
      .then(() => this.#fill(group))
      .catch((error) => this.#closed || this.#options.onFailure(error)); // the places are no longer needed
  }

  #given({ first, inARow }: RestartGroup): HoneError {
    const { place } = first!;
    const words = this.#logTail({ place, logged: 0 }, 4).replaceAll("\n", "\n  ");
    return new HoneError(
      "HONE_ERR_STATE",
      `${place.role} ${place.rank} ended ${inARow} time(s) in a row and is not started again; it printed last:\n  ${words}`,
      { hint: `Its whole output is in ${logOf(this.#options.logs, place)}.` },
    );
  }

  /** The last lines of a log, starting at a byte offset. */
  #logTail({ place, logged }: Pick<Child, "place" | "logged">, lines: number): string {
    const said = readFileSync(logOf(this.#options.logs, place)).subarray(logged).toString("utf8");
    return said.trimEnd().split("\n").slice(-lines).join("\n");
  }
}

const vacant = (place: Place): Child => {
  return { place, process: undefined, logged: 0, hung: false, ended: undefined };
};

function signal(children: readonly Child[], which: NodeJS.Signals): void {
  for (const { process: child } of children) child?.kill(which);
}

/** Tells processes to leave, by message and SIGTERM; SIGCONT lets a stopped process receive it. */
function tellToLeave(children: readonly Child[]): void {
  for (const { process: child } of children) if (child?.connected) child.send("leave", () => {}); // the child may have exited meanwhile
  signal(children, "SIGTERM");
  signal(children, "SIGCONT");
}

const logOf = (logs: string, { role, rank }: Place): string => join(logs, `${role}-${rank}.log`);

interface End {
  /** null if a signal ended the process, or it never started. */
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const ended = (child: ChildProcess): Promise<End> =>
  new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", () => resolve({ code: null, signal: null }));
  });

const FROM_OUTSIDE: ReadonlySet<NodeJS.Signals> = new Set(["SIGKILL", "SIGTERM", "SIGINT", "SIGHUP"]);

const isKilled = ({ code, signal, hung }: End & Pick<Child, "hung">): boolean =>
  !hung && (code === PROCESS_EXIT.done || (signal !== null && FROM_OUTSIDE.has(signal)));

function howOf({ code, signal }: End): string {
  if (signal !== null) return `by ${signal}`;
  return code === null ? "before it began" : `with exit code ${code}`;
}
