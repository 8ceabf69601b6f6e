import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { HoneError } from "../../lib/errors.ts";
import type { Fleet } from "../../lib/fleet/index.ts";
import type { Role } from "../../lib/fleet/names.ts";
import { philox4x32 } from "../../lib/random.ts";

// Faults of a run of several processes: tests and `npm run chaos` cause them from outside by signals. lib/fleet only
// offers `Updates.onPublished`, which tells a fault that its step has come.

/** One fault, which happens once. */
export type Fault = SignalFault | RestartFault;

interface SignalFault {
  readonly role: Role;
  /** The rank of the process; for a verifier of the run's own pool, its index in the list. */
  readonly rank: number;
  readonly at: FaultTime;
  readonly signal: "SIGKILL" | "SIGTERM" | "SIGSTOP";
  /** Milliseconds after which a process stopped by SIGSTOP continues. */
  readonly stopMs?: number;
}

/** Stops the run's own Redis server for `stopMs`, then kills it; the run starts it again. */
interface RestartFault {
  readonly role: "redis";
  readonly at: FaultTime;
  readonly stopMs: number;
}

/** When the fault happens: once actors have the weights of this step, or this many milliseconds after the start. */
export type FaultTime = { readonly step: number } | { readonly ms: number };

const TIME = String.raw`(\d+(?:\.\d+)?)(ms|s)`;
const WHEN = String.raw`@(?:step=(\d{1,9})|t=${TIME})`;
const SIGNAL = new RegExp(
  String.raw`^(actor|trainer|verifier)\.(\d{1,6})${WHEN}:(sigkill|sigterm|sigstop)(?:=${TIME})?$`,
);
const RESTART = new RegExp(`^redis${WHEN}:restart(?:=${TIME})?$`);

const ms = (number: string, unit: string): number => Number(number) * (unit === "s" ? 1000 : 1);

/** Parses "actor.1@step=3:sigkill,trainer.0@t=2s:sigstop=500ms,redis@t=4s:restart=1s"; "" means no faults. */
export function readFaults(text: string): Fault[] {
  return text === "" ? [] : text.split(",").map(readFault);
}

function readFault(text: string): Fault {
  const [isRestart, ...restart] = RESTART.exec(text) ?? [];
  if (isRestart !== undefined) {
    const [step, t, unit, stop, stopUnit] = restart;
    return { role: "redis", at: timeOf(step, t, unit), stopMs: stop === undefined ? 0 : ms(stop, stopUnit!) };
  }
  const [all, role, rank, step, t, unit, signal, stop, stopUnit] = SIGNAL.exec(text) ?? [];
  if (all === undefined || (stop !== undefined && signal !== "sigstop"))
    throw new HoneError("HONE_ERR_USAGE", `"${text}" is no fault`);
  return {
    role: role as Role,
    rank: Number(rank),
    at: timeOf(step, t, unit),
    signal: signal!.toUpperCase() as SignalFault["signal"],
    ...(stop !== undefined && { stopMs: ms(stop, stopUnit!) }),
  };
}

const timeOf = (step: string | undefined, t: string | undefined, unit: string | undefined): FaultTime =>
  step === undefined ? { ms: ms(t!, unit!) } : { step: Number(step) };

/** Writes a fault in the form that `readFaults` reads. */
export function spellFault(fault: Fault): string {
  const time = "step" in fault.at ? `step=${fault.at.step}` : `t=${fault.at.ms}ms`;
  if (fault.role === "redis") return `redis@${time}:restart=${fault.stopMs}ms`;
  const stop = fault.stopMs === undefined ? "" : `=${fault.stopMs}ms`;
  return `${fault.role}.${fault.rank}@${time}:${fault.signal.toLowerCase()}${stop}`;
}

export interface FaultShape {
  readonly seed: number;
  readonly seconds: number;
  readonly actors: number;
  readonly trainers: number;
  /** The number of verifier hosts. Default 0: the run's own pool judges. */
  readonly verifiers?: number | undefined;
  /** True if faults may kill the store's server. */
  readonly redis: boolean;
}

/** The pause between two faults: the least, and the most that is added. A process takes seconds to restart. */
const PAUSE_MS = { least: 2500, more: 5000 };
const STOP_MS = { least: 500, more: 11_500 };
const LONGEST_OUTAGE_MS = 2000;

/** Draws the faults of a seed, the same for the same seed and shape. Times count from the first step. */
export function drawFaults(shape: FaultShape): Fault[] {
  const faults: Fault[] = [];
  let at = 0;
  for (let i = 0; ; i++) {
    const [pause, ...rest] = philox4x32([i, 0, 0, 0], [shape.seed, 0]).map((word) => word / 2 ** 32);
    at += Math.round(PAUSE_MS.least + PAUSE_MS.more * pause!);
    if (at >= 1000 * shape.seconds) return faults;
    faults.push(drawFault(shape, at, rest as [number, number, number]));
  }
}

/** Half of the faults hit actors; trainers, the server and the verifiers share the rest. */
function drawFault(shape: FaultShape, atMs: number, [who, which, how]: [number, number, number]): Fault {
  const { actors, trainers, verifiers = 0, redis } = shape;
  const at = { ms: atMs };
  if (redis && who < 0.15) return { role: "redis", at, stopMs: Math.round(LONGEST_OUTAGE_MS * how) };
  if (who < 0.25) return { role: "verifier", rank: Math.floor(which * verifiers), at, signal: "SIGKILL" };
  const role = who < 0.5 && trainers > 0 ? "trainer" : "actor";
  const rank = Math.floor(which * (role === "actor" ? actors : trainers));
  if (how < 0.7) return { role, rank, at, signal: "SIGKILL" };
  const stopMs = Math.round(STOP_MS.least + (STOP_MS.more * (how - 0.7)) / 0.3);
  return { role, rank, at, signal: "SIGSTOP", stopMs };
}

/** The processes of a run, all on this machine, that faults can hit. */
export interface Targets {
  readonly core: Pick<Fleet, "board" | "updates" | "processes">;
  /** The process ids of the run's own verifiers, if there are no verifier hosts. */
  readonly pool?: () => readonly number[];
}

/** Makes each fault happen once in the processes of a run. The faults' times count from the constructor's call. */
export class FaultInjector {
  /** The number of faults that hit a process. */
  struck = 0;
  readonly #targets: Targets;
  readonly #left: Set<Fault>;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(faults: readonly Fault[], targets: Targets) {
    this.#targets = targets;
    this.#left = new Set(faults);
    for (const fault of faults) if ("ms" in fault.at) this.#later(fault.at.ms, () => this.#inject(fault));
    targets.core.updates.onPublished = (version) => {
      for (const fault of this.#left) if ("step" in fault.at && fault.at.step <= version) this.#inject(fault);
    };
  }

  /** The faults that hit no process, as `spellFault` writes them. */
  get unmet(): string[] {
    return [...this.#left].map(spellFault);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #inject(fault: Fault): void {
    const pid = this.#pidOf(fault);
    const [first, then] =
      fault.role === "redis" ? (["SIGSTOP", "SIGKILL"] as const) : ([fault.signal, "SIGCONT"] as const);
    if (!signalTo(pid, first)) return;
    this.#left.delete(fault);
    this.struck += 1;
    if (fault.stopMs !== undefined) this.#later(fault.stopMs, () => void signalTo(pid, then));
  }

  #pidOf(fault: Fault): number | undefined {
    const { core, pool } = this.#targets;
    if (fault.role === "redis") return serverOf(core.processes().store!.address);
    if (fault.role === "verifier" && pool) return pool()[fault.rank];
    return core.board.look().find(({ name }) => name === `${fault.role}.${fault.rank}`)?.pid;
  }

  #later(waitMs: number, work: () => void): void {
    this.#timers.push(setTimeout(work, waitMs).unref());
  }
}

/** Finds the process id of a run's own server. @param address redis+unix:///…/redis.sock */
function serverOf(address: string): number {
  const folder = dirname(fileURLToPath(address.replace("redis+unix:", "file:")));
  return Number(readFileSync(join(folder, "redis.pid"), "utf8"));
}

/** Sends a signal; returns false if there is no such process. */
export function signalTo(pid: number | undefined, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // the process has ended in the meantime
  }
}
