import { basename } from "node:path";
import type { ControlOutcome } from "../../metrics/index.ts";
import type { EventLog, NoteKind } from "../records/index.ts";
import type { Announcer } from "./announcer.ts";
import type { RunProgress } from "./run-context.ts";

/** Most characters of a warning that the log keeps. */
const MOST_CHARS = 400;

/**
 * Writes into the event log what users want to know and a replay does not need: the warm start, checkpoints,
 * pauses, warnings, and every control request. Control requests are written immediately, until this is
 * disposed.
 * @param earlier requests made before the log was open.
 */
export function noteEvents(
  listeners: Announcer,
  events: Pick<EventLog, "add" | "flush">,
  progress: Pick<RunProgress, "step" | "seconds">,
  earlier: readonly ControlOutcome[] = [],
): Disposable {
  const note = (k: NoteKind, m: string, s = progress.step, f?: number) =>
    events.add({ e: "note", s, ...(f !== undefined && { f }), t: Date.now(), k, m: m.slice(0, MOST_CHARS) });
  const control = (outcome: ControlOutcome) => note("control", controlText(outcome), outcome.step);
  for (const outcome of earlier) control(outcome);
  let pause = { step: progress.step, ms: performance.now() };
  const off = [
    listeners.on("phase", (name) => {
      const seconds = progress.seconds.warmStart;
      if (name === "training" && progress.step === 0 && seconds > 0)
        note("phase", `warm start: ${seconds.toFixed(1)} s`);
    }),
    listeners.on("paused", (paused) => {
      const { step, ms } = pause;
      if (!paused)
        note("pause", `paused for ${((performance.now() - ms) / 1000).toFixed(1)} s`, progress.step, step);
      pause = { step: progress.step, ms: performance.now() };
    }),
    listeners.on("checkpoint", (path, at) => note("checkpoint", `checkpoint ${basename(path)}`, at)),
    listeners.on("warning", (message) => note("warning", message)),
    listeners.on("control", (outcome) => {
      control(outcome);
      events.flush();
    }),
  ];
  const dispose = () => {
    for (const stop of off) stop();
  };
  return { [Symbol.dispose]: dispose };
}

/** "pause, requested by page at 127.0.0.1", and the outcome. */
function controlText({ action, by, state, error }: ControlOutcome): string {
  const asked = `${action}, requested by ${by}`;
  if (state === "taken") return asked;
  return error === undefined ? `${asked}: done` : `${asked}: failed: ${error}`;
}
