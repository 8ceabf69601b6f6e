import { basename } from "node:path";
import type { ControlOutcome } from "../../metrics/index.ts";
import type { EventLog } from "../records/index.ts";
import type { Announcer } from "./announcer.ts";

/** Words of a warning that go into the log. */
const MOST_CHARS = 400;

/**
 * Writes into the event log, for people, what is no part of a replay: checkpoints, warnings, and every use of the controls,
 * those at once, until it is disposed.
 * @param earlier what was asked before the log was open.
 */
export function noteEvents(
  listeners: Announcer,
  events: Pick<EventLog, "add" | "flush">,
  step: () => number,
  earlier: readonly ControlOutcome[] = [],
): Disposable {
  const note = (k: "checkpoint" | "warning" | "control", m: string, s = step()) =>
    events.add({ e: "note", s, t: Date.now(), k, m: m.slice(0, MOST_CHARS) });
  const control = (outcome: ControlOutcome) => note("control", controlText(outcome), outcome.step);
  for (const outcome of earlier) control(outcome);
  const off = [
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

/** "pause, asked for by page at 127.0.0.1", and what came of it. */
function controlText({ action, by, state, error }: ControlOutcome): string {
  const asked = `${action}, asked for by ${by}`;
  if (state === "taken") return asked;
  return error === undefined ? `${asked}: done` : `${asked}: failed: ${error}`;
}
