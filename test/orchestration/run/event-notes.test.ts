import { expect, test } from "vitest";
import type { RunEvent } from "../../../lib/orchestration/records/event-log.ts";
import { Announcer } from "../../../lib/orchestration/run/announcer.ts";
import { noteEvents } from "../../../lib/orchestration/run/event-notes.ts";

const pause = {
  schema: 1,
  id: "1",
  action: "pause",
  by: "page at 127.0.0.1",
  step: 3,
  state: "taken",
} as const;

const progress = (step: number, warmStart: number) => ({ step, seconds: { warmStart, training: 0 } });

test("the warm start is noted once, where training begins; a pause when it is over, from the step it began at", () => {
  const lines: RunEvent[] = [];
  const log = { add: (event: RunEvent) => lines.push(event), flush: () => {} };
  const listeners = new Announcer();
  const fresh = progress(0, 12.34);
  using _ = noteEvents(listeners, log, fresh);
  listeners.emit("phase", "warm start", 300);
  listeners.emit("phase", "training", 20);
  fresh.step = 3;
  listeners.emit("paused", true);
  fresh.step = 5;
  listeners.emit("paused", false);
  listeners.emit("phase", "training", 20);
  const t = expect.any(Number);
  expect(lines).toEqual([
    { e: "note", s: 0, t, k: "phase", m: "warm start: 12.3 s" },
    { e: "note", s: 5, f: 3, t, k: "pause", m: expect.stringMatching(/^paused for \d+\.\d s$/) },
  ]);
});

test("without a warm start there is none, and a run that began paused was paused since then", () => {
  const lines: RunEvent[] = [];
  const log = { add: (event: RunEvent) => lines.push(event), flush: () => {} };
  const listeners = new Announcer();
  using _ = noteEvents(listeners, log, progress(7, 0));
  listeners.emit("phase", "training", 20);
  listeners.emit("paused", false);
  expect(lines).toEqual([expect.objectContaining({ k: "pause", s: 7, f: 7 })]);
});

test("writes checkpoints, warnings and controls; controls are on the disk at once", () => {
  const listeners = new Announcer();
  const lines: RunEvent[] = [];
  let flushed = 0;
  const log = { add: (event: RunEvent) => lines.push(event), flush: () => (flushed = lines.length) };
  const notes = noteEvents(listeners, log, progress(5, 0), [pause]);
  listeners.emit("checkpoint", "/runs/a/checkpoints/step-000004", 4);
  listeners.emit("warning", "x".repeat(1000));
  expect(flushed).toBe(0);
  listeners.emit("control", { ...pause, action: "checkpoint", state: "failed", error: "no room" });
  expect(flushed).toBe(4);
  notes[Symbol.dispose]();
  listeners.emit("warning", "too late");
  expect(lines).toEqual([
    { e: "note", s: 3, t: expect.any(Number), k: "control", m: "pause, requested by page at 127.0.0.1" },
    { e: "note", s: 4, t: expect.any(Number), k: "checkpoint", m: "checkpoint step-000004" },
    { e: "note", s: 5, t: expect.any(Number), k: "warning", m: "x".repeat(400) },
    {
      e: "note",
      s: 3,
      t: expect.any(Number),
      k: "control",
      m: "checkpoint, requested by page at 127.0.0.1: failed: no room",
    },
  ]);
});
