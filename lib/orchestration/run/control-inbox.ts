import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  CONTROL_ACTIONS,
  type ControlOutcome,
  type ControlRequest,
  RUN_FILES,
  readJson,
} from "../../metrics/index.ts";
import type { Run } from "./run-interface.ts";

/** Number of outcomes kept for the status page. */
const KEPT = 8;
const NAME = /^[a-z0-9-]{1,60}\.json$/;

/** The part of a run that requests can control. */
export type Controlled = Pick<Run, "pause" | "resume" | "checkpoint" | "stop" | "step">;

/**
 * Requests to a run that other processes write to its folder: takes each file once and executes it. Removes requests
 * that are present when the run begins: they were meant for an earlier one.
 */
export class ControlInbox {
  readonly #folder: string;
  readonly #run: Controlled;
  readonly #onOutcome: (outcome: ControlOutcome) => void;
  readonly #outcomes: ControlOutcome[] = [];

  /** @param onOutcome called when a request is taken, and again when it is done or has failed */
  constructor(runDir: string, run: Controlled, onOutcome: (outcome: ControlOutcome) => void) {
    this.#folder = join(runDir, RUN_FILES.requests);
    this.#run = run;
    this.#onOutcome = onOutcome;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Outcomes of the most recent requests, oldest first. */
  get outcomes(): readonly ControlOutcome[] {
    return this.#outcomes;
  }

  /** Takes the requests that have arrived since the last poll. Removes a file that is not a request. */
  look(): void {
    if (!existsSync(this.#folder)) return;
    for (const name of readdirSync(this.#folder)
      .filter((name) => NAME.test(name))
      .sort()) {
      const path = join(this.#folder, name);
      const request = readRequest(path);
      rmSync(path, { force: true });
      if (request !== undefined) this.#take(request);
    }
  }

  #take({ id, action, by }: ControlRequest): void {
    const taken = { schema: 1, id, action, by, step: this.#run.step, state: "taken" } as const;
    this.#tell(taken);
    this.#do(action).then(
      () => this.#tell({ ...taken, state: "done" }),
      (error: unknown) => this.#tell({ ...taken, state: "failed", error: String((error as Error).message) }),
    );
  }

  async #do(action: ControlRequest["action"]): Promise<void> {
    if (action === "pause") this.#run.pause();
    else if (action === "resume") this.#run.resume();
    else if (action === "checkpoint") await this.#run.checkpoint();
    else await this.#run.stop();
  }

  #tell(outcome: ControlOutcome): void {
    const at = this.#outcomes.findIndex(({ id }) => id === outcome.id);
    if (at < 0) this.#outcomes.push(outcome);
    else this.#outcomes[at] = outcome;
    if (this.#outcomes.length > KEPT) this.#outcomes.shift();
    this.#onOutcome(outcome);
  }
}

function readRequest(path: string): ControlRequest | undefined {
  try {
    const request = readJson(path) as Partial<ControlRequest> | null;
    const { schema, id, action, by } = request ?? {};
    const known = schema === 1 && CONTROL_ACTIONS.includes(action!);
    return known && typeof id === "string" && typeof by === "string"
      ? { schema, id, action: action!, by }
      : undefined;
  } catch {
    return undefined;
  }
}
