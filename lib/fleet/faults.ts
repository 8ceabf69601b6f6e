import { HoneError } from "../errors.ts";

/** Something that goes wrong on purpose, once. */
export interface Fault {
  readonly role: "actor" | "trainer";
  readonly rank: number;
  /** When actors have the weights after this step, or so many milliseconds after the beginning. */
  readonly at: { readonly step: number } | { readonly ms: number };
  readonly signal: "SIGKILL" | "SIGTERM" | "SIGSTOP";
  /** After a SIGSTOP: it goes on after so long. Milliseconds. */
  readonly stopMs?: number;
}

/** Whoever holds the processes. False: there is none. */
interface Strikes {
  kill(role: Fault["role"], rank: number, signal: NodeJS.Signals): boolean;
}

const FAULT =
  /^(actor|trainer)\.(\d{1,6})@(?:step=(\d{1,9})|t=(\d+(?:\.\d+)?)(ms|s)):(sigkill|sigterm|sigstop)(?:=(\d+(?:\.\d+)?)(ms|s))?$/;
const EXAMPLE = "actor.1@step=3:sigkill,trainer.0@t=2s:sigstop=500ms";

const ms = (number: string, unit: string): number => Number(number) * (unit === "s" ? 1000 : 1);

/** Faults of HONE_FAULTS, "" for none. Throws HONE_ERR_USAGE naming the one that cannot be read. */
export function readFaults(text = ""): Fault[] {
  return text.split(",").flatMap((each) => (each.trim() === "" ? [] : [readFault(each.trim())]));
}

function readFault(text: string): Fault {
  const [, role, rank, step, t, unit, signal, stop, stopUnit] = FAULT.exec(text) ?? [];
  if (role === undefined || (stop !== undefined && signal !== "sigstop"))
    throw new HoneError("HONE_ERR_USAGE", `HONE_FAULTS: "${text}" is no fault`, {
      hint: `Such as HONE_FAULTS="${EXAMPLE}".`,
    });
  return {
    role: role as Fault["role"],
    rank: Number(rank),
    at: step === undefined ? { ms: ms(t!, unit!) } : { step: Number(step) },
    signal: signal!.toUpperCase() as Fault["signal"],
    ...(stop !== undefined && { stopMs: ms(stop, stopUnit!) }),
  };
}

/** Makes them happen to processes of a supervisor. */
export class FaultInjector {
  readonly #left: Set<Fault>;
  readonly #processes: Strikes;
  readonly #timers: NodeJS.Timeout[] = [];

  constructor(faults: readonly Fault[], processes: Strikes) {
    this.#left = new Set(faults);
    this.#processes = processes;
  }

  /** Starts the clock. */
  begin(): void {
    for (const fault of this.#left) if ("ms" in fault.at) this.#later(fault.at.ms, () => this.#strike(fault));
  }

  /** Weights of this version are with the actors. */
  published(version: number): void {
    for (const fault of this.#left) if ("step" in fault.at && fault.at.step <= version) this.#strike(fault);
  }

  close(): void {
    for (const timer of this.#timers) clearTimeout(timer);
  }

  #strike(fault: Fault): void {
    const { role, rank, signal, stopMs } = fault;
    this.#left.delete(fault);
    this.#processes.kill(role, rank, signal);
    if (stopMs !== undefined) this.#later(stopMs, () => this.#processes.kill(role, rank, "SIGCONT"));
  }

  #later(waitMs: number, work: () => void): void {
    this.#timers.push(setTimeout(work, waitMs).unref());
  }
}
