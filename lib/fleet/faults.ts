import { HoneError } from "../errors.ts";
import { OWN_REDIS } from "./local-store.ts";
import type { Role } from "./names.ts";

/** Something that goes wrong on purpose, once. */
export type Fault = SignalFault | RestartFault;

interface SignalFault {
  readonly role: Role;
  /** Rank of the process; verifier processes may omit it, which means the first. */
  readonly rank: number;
  readonly at: FaultTime;
  readonly signal: "SIGKILL" | "SIGTERM" | "SIGSTOP";
  /** After a SIGSTOP: it goes on after so long. Milliseconds. */
  readonly stopMs?: number;
}

/** The run's own Redis server is killed and started again, at once or after a while. */
interface RestartFault {
  readonly role: "redis";
  readonly at: FaultTime;
  readonly stopMs: number;
}

/** When actors have the weights after this step, or so many milliseconds after the beginning. */
export type FaultTime = { readonly step: number } | { readonly ms: number };

/** Sends signals to processes. Resolves to false if there is no such process. */
export interface SignalSender {
  kill(role: Role, rank: number, signal: NodeJS.Signals): boolean | Promise<boolean>;
  /** Kills the store's server and starts it again after so long. */
  restart(stopMs: number): boolean;
}

/** Number of processes of each role that a run has. */
export interface Meetable {
  readonly actors: number;
  readonly trainers: number;
  /** Hosts. 0: the run's own pool, which has as many as it has. */
  readonly verifiers?: number | undefined;
}

const TIME = String.raw`(\d+(?:\.\d+)?)(ms|s)`;
const WHEN = String.raw`@(?:step=(\d{1,9})|t=${TIME})`;
const SIGNAL = new RegExp(
  String.raw`^(?:(actor|trainer)\.(\d{1,6})|(verifier)(?:\.(\d{1,6}))?)${WHEN}:(sigkill|sigterm|sigstop)(?:=${TIME})?$`,
);
const RESTART = new RegExp(`^redis${WHEN}:restart(?:=${TIME})?$`);
const EXAMPLE =
  "actor.1@step=3:sigkill,trainer.0@t=2s:sigstop=500ms,verifier@t=3s:sigkill,redis@t=4s:restart";

const ms = (number: string, unit: string): number => Number(number) * (unit === "s" ? 1000 : 1);

/** Faults of HONE_FAULTS, "" for none. Throws HONE_ERR_USAGE naming the one that cannot be read. */
export function readFaults(text = ""): Fault[] {
  return text.split(",").flatMap((each) => (each.trim() === "" ? [] : [readFault(each.trim())]));
}

function readFault(text: string): Fault {
  const [isRestart, ...restart] = RESTART.exec(text) ?? [];
  if (isRestart !== undefined) {
    const [step, t, unit, stop, stopUnit] = restart;
    return { role: "redis", at: timeOf(step, t, unit), stopMs: stop === undefined ? 0 : ms(stop, stopUnit!) };
  }
  const [all, ranked, rank, verifier, which = "0", step, t, unit, signal, stop, stopUnit] =
    SIGNAL.exec(text) ?? [];
  if (all === undefined || (stop !== undefined && signal !== "sigstop"))
    throw new HoneError("HONE_ERR_USAGE", `HONE_FAULTS: "${text}" is no fault`, {
      hint: `Such as HONE_FAULTS="${EXAMPLE}".`,
    });
  return {
    role: (ranked ?? verifier) as SignalFault["role"],
    rank: Number(rank ?? which),
    at: timeOf(step, t, unit),
    signal: signal!.toUpperCase() as SignalFault["signal"],
    ...(stop !== undefined && { stopMs: ms(stop, stopUnit!) }),
  };
}

const timeOf = (step: string | undefined, t: string | undefined, unit: string | undefined): FaultTime =>
  step === undefined ? { ms: ms(t!, unit!) } : { step: Number(step) };

/** As it is written. */
export function spellFault(fault: Fault): string {
  const time = "step" in fault.at ? `step=${fault.at.step}` : `t=${fault.at.ms}ms`;
  if (fault.role === "redis") return `redis@${time}:restart=${fault.stopMs}ms`;
  const stop = fault.stopMs === undefined ? "" : `=${fault.stopMs}ms`;
  return `${fault.role}.${fault.rank}@${time}:${fault.signal.toLowerCase()}${stop}`;
}

/**
 * Throws HONE_ERR_USAGE for a fault that can meet no process. The pool itself decides how many verifier processes it
 * has.
 */
export function expectThere(faults: readonly Fault[], { actors, trainers, verifiers = 0 }: Meetable): void {
  const most = { actor: actors, trainer: trainers, verifier: verifiers || Number.POSITIVE_INFINITY };
  const lost = faults.find((fault) => fault.role !== "redis" && fault.rank >= most[fault.role]);
  if (lost === undefined || lost.role === "redis") return;
  const { role, rank } = lost;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `a fault of ${role}.${rank}, and the run has ${most[role]} of that role`,
    {
      hint:
        most[role] === 0
          ? "Such processes are asked for by hardware.processes."
          : `The last one is ${role}.${most[role] - 1}.`,
    },
  );
}

/** The same of a run of agents; HONE_ERR_UNSUPPORTED for the Redis server at which they meet, which none of them has. */
export function expectWithAgents(faults: readonly Fault[], roles: Meetable): void {
  const restart = faults.find(({ role }) => role === "redis");
  if (restart !== undefined)
    throw new HoneError(
      "HONE_ERR_UNSUPPORTED",
      `HONE_FAULTS: ${spellFault(restart)} restarts the Redis server, which is no agent's: the launcher's file, or somebody else, has started it`,
      { hint: `Leave it out, or try it on one machine: hone run --processes 4 --store ${OWN_REDIS}.` },
    );
  expectThere(faults, roles);
}

/** Signals a process of this machine. False where there is none. */
export function signalTo(pid: number | undefined, signal: NodeJS.Signals): boolean {
  if (pid === undefined) return false;
  try {
    return process.kill(pid, signal);
  } catch {
    return false; // it has ended meanwhile
  }
}

/** Makes them happen to processes of a supervisor, or of several on other nodes. */
export class FaultInjector {
  /** Those that met a process. */
  struck = 0;
  readonly #left: Set<Fault>;
  readonly #underWay = new Set<Promise<void>>();
  readonly #missed: Fault[] = [];
  readonly #processes: SignalSender;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(faults: readonly Fault[], processes: SignalSender) {
    this.#left = new Set(faults);
    this.#processes = processes;
  }

  /** Starts the clock. */
  begin(): void {
    for (const fault of this.#left) if ("ms" in fault.at) this.#later(fault.at.ms, () => this.#inject(fault));
  }

  /** Weights of this version are with the actors. */
  published(version: number): void {
    for (const fault of this.#left) if ("step" in fault.at && fault.at.step <= version) this.#inject(fault);
  }

  /** Sentences about the faults that have met no process so far, and why. */
  get unmet(): string[] {
    const early = [...this.#left].map((fault) => `${spellFault(fault)} did not happen: the run ended before`);
    const missed = this.#missed.map(
      (fault) => `${spellFault(fault)} found no process: there was none of that name at that time`,
    );
    return [...early, ...missed];
  }

  /** Stops injecting. Resolves when the outcome of faults in progress is known. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearTimeout(timer);
    await Promise.all(this.#underWay);
  }

  #inject(fault: Fault): void {
    this.#left.delete(fault);
    const met = (hit: boolean) => {
      if (hit) this.struck += 1;
      else this.#missed.push(fault);
    };
    const done = Promise.resolve(this.#hits(fault))
      .catch(() => false) // the store is gone, which is said to the run
      .then(met)
      .finally(() => this.#underWay.delete(done));
    this.#underWay.add(done);
  }

  #hits(fault: Fault): boolean | Promise<boolean> {
    if (fault.role === "redis") return this.#processes.restart(fault.stopMs);
    const { role, rank, signal, stopMs } = fault;
    const goOn = async () => this.#processes.kill(role, rank, "SIGCONT");
    if (stopMs !== undefined) this.#later(stopMs, () => void goOn().catch(() => {})); // or its place is taken
    return this.#processes.kill(role, rank, signal);
  }

  #later(waitMs: number, work: () => void): void {
    this.#timers.push(setTimeout(work, waitMs).unref());
  }
}
