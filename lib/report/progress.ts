import { type Clock, systemClock } from "../clock.ts";
import type { StepRecord } from "../records.ts";
import { COLORED, PLAIN, type Style } from "./ansi.ts";
import { type FrameState, renderFrame, trendsOf } from "./frame.ts";
import { LiveFrame } from "./live-frame.ts";
import { stepLine } from "./step-line.ts";
import { type Environment, isLive, type Terminal, usesColor } from "./terminal.ts";

export interface ProgressOptions {
  /** e.g. "quickstart, seed 0". */
  readonly title: string;
  readonly domains: readonly string[];
  readonly terminal: Terminal;
  /** Gives NO_COLOR, FORCE_COLOR, TERM and CI. Default: that of the process. */
  readonly environment?: Environment | undefined;
  readonly clock?: Clock | undefined;
}

const REDRAW_MS = 100;
/** Time between two lines of progress if the output is not a terminal. Milliseconds. */
const LINE_MS = 2000;
const HISTORY = 2000;

/**
 * Shows a run while it runs. On a terminal: a frame redrawn in place, at most ten times a second, that stays
 * as it was when the phase ends. Elsewhere: a parseable line every two seconds at most, and where a phase
 * begins and ends; the first and the last step always have a line (all steps are in the run log).
 * Never throws on bad metrics or on a terminal without a size; writes nothing after `close`.
 */
export class Progress {
  readonly #options: ProgressOptions;
  readonly #clock: Clock;
  readonly #live: boolean;
  readonly #style: Style;
  readonly #frame: LiveFrame;
  /** Steps for the frame's trends; only the last one keeps all of its metrics. */
  readonly #steps: StepRecord[] = [];
  #hasTold = false;
  #phase = { name: "", total: 0, done: 0, note: "", startedMs: 0 };
  #toldMs = Number.NEGATIVE_INFINITY;
  /** The latest step without a line of its own. */
  #untold: StepRecord | undefined;
  #closed = false;

  constructor(options: ProgressOptions) {
    const environment = options.environment ?? process.env;
    this.#options = options;
    this.#frame = new LiveFrame(options.terminal);
    this.#clock = options.clock ?? systemClock;
    this.#live = isLive(options.terminal, environment);
    this.#style = usesColor(options.terminal, environment) ? COLORED : PLAIN;
  }

  /** Returns the processes of the run. */
  processes: () => FrameState["processes"] = () => undefined;

  /** Columns available now. */
  get columns(): number {
    return this.#frame.columns;
  }

  get style(): Style {
    return this.#style;
  }

  /** Ends the current phase and begins one of `total` units (steps, prompts, ...). */
  phase(name: string, total: number): void {
    this.endPhase();
    this.#phase = { name, total, done: 0, note: "", startedMs: this.#clock.now() };
    if (this.#live) this.#draw(true);
    else {
      this.#print(`phase=${JSON.stringify(name)} total=${total}`);
      this.#toldMs = this.#clock.now();
    }
  }

  /** `done` units of the phase are done. Cheap: redraws only if the last frame is old. */
  advance(done: number, note = ""): void {
    this.#phase.done = done;
    this.#phase.note = note;
    if (this.#live) this.#draw(false);
    else if (this.#isDue()) this.#tell(`phase=${JSON.stringify(this.#phase.name)} ${this.#doneText()}`);
  }

  /** One training step is done. */
  step(record: StepRecord): void {
    this.#phase.done = record.step;
    if (this.#live) this.#drawStep(record);
    else {
      this.#untold = record;
      if (!this.#hasTold || this.#isDue()) this.#tellStep();
      this.#hasTold = true;
    }
  }

  #drawStep(record: StepRecord): void {
    const before = this.#steps.pop();
    if (before !== undefined) this.#steps.push(trendsOf(before));
    this.#steps.push(record);
    if (this.#steps.length > HISTORY) this.#steps.shift();
    this.#draw(false);
  }

  /** Ends the phase: leaves its last frame on the terminal, or prints how long the phase took. */
  endPhase(): void {
    const { name, startedMs } = this.#phase;
    if (name === "") return;
    const seconds = ((this.#clock.now() - startedMs) / 1000).toFixed(2);
    if (this.#live) {
      this.#draw(true, true);
      this.#print("");
      this.#frame.leave();
    } else {
      this.#tellStep();
      this.#tell(`phase=${JSON.stringify(name)} ${this.#doneText(`seconds=${seconds}`)}`);
    }
    this.#phase = { name: "", total: 0, done: 0, note: "", startedMs: 0 };
  }

  /** Prints a line above the frame. */
  say(line: string): void {
    if (this.#closed) return;
    this.#frame.erase();
    this.#print(line);
    if (this.#live && this.#phase.name !== "") this.#draw(true);
  }

  /** Idempotent. */
  close(): void {
    this.endPhase();
    this.#closed = true;
  }

  #doneText(more = `total=${this.#phase.total}`): string {
    const { done, note } = this.#phase;
    return `done=${done} ${more}${note === "" ? "" : ` ${note}`}`;
  }

  #isDue(): boolean {
    return this.#clock.now() - this.#toldMs >= LINE_MS;
  }

  #tell(line: string): void {
    this.#print(line);
    this.#toldMs = this.#clock.now();
  }

  #tellStep(): void {
    if (this.#untold !== undefined) this.#tell(stepLine(this.#untold, this.#options.domains));
    this.#untold = undefined;
  }

  #draw(now: boolean, isOver = false): void {
    const at = this.#clock.now();
    if (this.#closed || (!now && at - this.#toldMs < REDRAW_MS)) return;
    const { name, total, done, note, startedMs } = this.#phase;
    const state = {
      title: this.#options.title,
      domains: this.#options.domains,
      steps: this.#steps,
      phase: name,
      elapsedSeconds: (at - startedMs) / 1000,
      total,
      done,
      note,
      isOver,
      processes: this.processes() ?? [],
    };
    this.#frame.draw((columns) => renderFrame(state, columns, this.#style));
    this.#toldMs = at;
  }

  #print(line: string): void {
    if (!this.#closed) this.#options.terminal.write(`${line}\n`);
  }
}
