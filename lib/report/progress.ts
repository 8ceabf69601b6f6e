import { type Clock, systemClock } from "../clock.ts";
import type { StepRecord } from "../records.ts";
import { COLORED, PLAIN, type Style } from "./ansi.ts";
import { renderFrame } from "./frame.ts";
import { stepLine } from "./step-line.ts";

/** What the progress writes to: process.stdout, or anything like it. */
export interface Terminal {
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
  write(text: string): unknown;
}

export interface ProgressOptions {
  /** e.g. "quickstart, seed 0". */
  readonly title: string;
  readonly domains: readonly string[];
  readonly terminal: Terminal;
  /** Read for NO_COLOR, FORCE_COLOR and TERM. */
  readonly environment?: Readonly<Record<string, string | undefined>> | undefined;
  readonly clock?: Clock | undefined;
}

const REDRAW_MS = 100;
const HISTORY = 2000;

/**
 * Shows a run while it runs. On a terminal: a frame redrawn in place, at most ten times a second, that stays as it
 * was when the phase ends. Elsewhere: one parseable line a step, and one when a phase begins and ends.
 * Never throws on bad metrics; writes nothing after `close`.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #clock: Clock;
  readonly #live: boolean;
  readonly #style: Style;
  readonly #steps: StepRecord[] = [];
  #phase = { name: "", total: 0, done: 0, note: "", startedMs: 0 };
  #drawn = 0;
  #drawnMs = Number.NEGATIVE_INFINITY;
  #closed = false;

  constructor(options: ProgressOptions) {
    const environment = options.environment ?? process.env;
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#live = options.terminal.isTTY === true && environment["TERM"] !== "dumb";
    this.#style = usesColor(this.#live, environment) ? COLORED : PLAIN;
  }

  get style(): Style {
    return this.#style;
  }

  /** Begins a phase of `total` units (steps, prompts, ...); the one before it ends. */
  phase(name: string, total: number): void {
    this.endPhase();
    this.#phase = { name, total, done: 0, note: "", startedMs: this.#clock.now() };
    if (!this.#live) this.#print(`phase=${JSON.stringify(name)} total=${total}`);
    else this.#draw(true);
  }

  /** `done` units of the phase are through. Cheap: draws only when the last frame is old. */
  advance(done: number, note = ""): void {
    this.#phase.done = done;
    this.#phase.note = note;
    if (this.#live) this.#draw(false);
  }

  /** One training step is through. */
  step(record: StepRecord): void {
    this.#steps.push(record);
    if (this.#steps.length > HISTORY) this.#steps.shift();
    this.#phase.done = record.step;
    if (this.#live) this.#draw(false);
    else this.#print(stepLine(record, this.#options.domains));
  }

  /** Leaves the last frame (or says how long the phase took) and moves on. */
  endPhase(): void {
    const { name, startedMs, done, note } = this.#phase;
    if (name === "") return;
    const seconds = ((this.#clock.now() - startedMs) / 1000).toFixed(2);
    if (this.#live) {
      this.#draw(true);
      this.#print("");
      this.#drawn = 0;
    } else {
      this.#print(
        `phase=${JSON.stringify(name)} done=${done} seconds=${seconds}${note === "" ? "" : ` ${note}`}`,
      );
    }
    this.#phase = { name: "", total: 0, done: 0, note: "", startedMs: 0 };
  }

  /** A line for people, above the frame. */
  say(line: string): void {
    if (this.#closed) return;
    this.#erase();
    this.#print(line);
    if (this.#live && this.#phase.name !== "") this.#draw(true);
  }

  /** Idempotent. */
  close(): void {
    this.endPhase();
    this.#closed = true;
  }

  #draw(now: boolean): void {
    const at = this.#clock.now();
    if (this.#closed || (!now && at - this.#drawnMs < REDRAW_MS)) return;
    const { name, total, done, note, startedMs } = this.#phase;
    const state = {
      title: this.#options.title,
      domains: this.#options.domains,
      steps: this.#steps,
      phase: name,
      elapsedSeconds: (at - startedMs) / 1000,
      ...{ total, done, note },
    };
    const lines = renderFrame(state, (this.#options.terminal.columns ?? 80) - 1, this.#style);
    // One write, or a slow terminal shows half a frame.
    const up = this.#drawn > 0 ? `\u001b[${this.#drawn}A` : "";
    this.#options.terminal.write(`${up}${lines.map((line) => `${line}\u001b[K\n`).join("")}\u001b[J`);
    this.#drawn = lines.length;
    this.#drawnMs = at;
  }

  #erase(): void {
    if (this.#drawn > 0) this.#options.terminal.write(`\u001b[${this.#drawn}A\u001b[J`);
    this.#drawn = 0;
  }

  #print(line: string): void {
    if (!this.#closed) this.#options.terminal.write(`${line}\n`);
  }
}

/** https://no-color.org: any non-empty NO_COLOR wins; FORCE_COLOR turns colour on where there is no terminal. */
function usesColor(live: boolean, environment: Readonly<Record<string, string | undefined>>): boolean {
  if ((environment["NO_COLOR"] ?? "") !== "") return false;
  if ((environment["FORCE_COLOR"] ?? "0") !== "0") return true;
  return live;
}
