import { leftAtDefault } from "../config/index.ts";
import type { Run } from "../orchestration/index.ts";
import { Progress, type ProgressOptions } from "../report/index.ts";
import { Silence } from "./silence.ts";

/**
 * Consumes the run's iterator of step records, which would otherwise buffer a thousand of them; the session's display
 * uses listeners instead.
 */
async function takeRecords(run: Run): Promise<void> {
  try {
    for await (const _ of run);
  } catch {
    // `run.finished` reports the error
  }
}

/** The style and width of a terminal. */
export type TerminalLook = Pick<Progress, "style" | "columns">;

/** Shows a session while it runs. If the display fails, the session continues, and the failure is reported once on stderr. */
export class SessionDisplay {
  readonly #progress: Progress;
  readonly #silence: Silence;
  #phase = { name: "", total: 0 };
  #failed = false;

  constructor(options: ProgressOptions) {
    this.#progress = new Progress(options);
    this.#silence = new Silence((line) => this.say(line));
  }

  /** Lists the settings left at their defaults, and shows the run's progress to its end. */
  follow(run: Run): void {
    const defaults = Object.entries(leftAtDefault(run.recipe)).map(([field, value]) => `${field} ${value}`);
    if (defaults.length > 0) this.say(`left at their defaults: ${defaults.join(", ")}`);
    this.#progress.processes = () => run.processes;
    void takeRecords(run);
    run.on("phase", (name, total) => {
      if (name === "done") return;
      this.#silence.broken(`${name}: 0 of ${total}`);
      this.#progress.phase(name, total);
      if (name === "training" && run.step > 0) this.#goesOn(run.step, total);
    });
    run.on("warmStart", ({ step, loss }) => {
      this.#silence.broken();
      this.#progress.advance(step, `loss ${loss.toFixed(3)}`);
    });
    run.on("step", (record) => {
      this.#silence.broken();
      this.#progress.step(record);
    });
    run.on("waits", (sentence) => this.#silence.waits(sentence));
    run.on("warning", (message) => this.#progress.say(`warning: ${message}`));
  }

  /** Steps of earlier sessions count as done. */
  #goesOn(step: number, steps: number): void {
    this.#progress.advance(step);
    if (step >= steps)
      this.#progress.say(
        `the run has already trained all its ${steps} steps: to continue training, set training.steps above ${steps}`,
      );
  }

  phase(name: string, total: number): void {
    this.#silence.broken(`${name}: 0 of ${total} answers judged`);
    this.#phase = { name, total };
    this.#try((progress) => progress.phase(name, total));
  }

  advance(done: number): void {
    this.#silence.broken(`${this.#phase.name}: ${done} of ${this.#phase.total} answers judged`);
    this.#try((progress) => progress.advance(done));
  }

  endPhase(): void {
    this.#silence.broken("");
    this.#try((progress) => progress.endPhase());
  }

  /** @param text the text, or a function that formats it for the terminal's current width and colours */
  say(text: string | ((look: TerminalLook) => string)): void {
    this.#try((progress) => progress.say(typeof text === "string" ? text : text(progress)));
  }

  close(): void {
    this.#silence.close();
    this.#try((progress) => progress.close());
  }

  #try(work: (progress: Progress) => void): void {
    try {
      work(this.#progress);
    } catch (error) {
      if (!this.#failed) process.emitWarning(`the display failed, and the run continues: ${String(error)}`);
      this.#failed = true;
    }
  }
}
