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

test("writes checkpoints, warnings and controls; controls are on the disk at once", () => {
  const listeners = new Announcer();
  const lines: RunEvent[] = [];
  let flushed = 0;
  const log = { add: (event: RunEvent) => lines.push(event), flush: () => (flushed = lines.length) };
  const notes = noteEvents(listeners, log, () => 5, [pause]);
  listeners.emit("checkpoint", "/runs/a/checkpoints/step-000004", 4);
  listeners.emit("warning", "x".repeat(1000));
  expect(flushed).toBe(0);
  listeners.emit("control", { ...pause, action: "checkpoint", state: "failed", error: "no room" });
  expect(flushed).toBe(4);
  notes[Symbol.dispose]();
  listeners.emit("warning", "too late");
  expect(lines).toEqual([
    { e: "note", s: 3, t: expect.any(Number), k: "control", m: "pause, asked for by page at 127.0.0.1" },
    { e: "note", s: 4, t: expect.any(Number), k: "checkpoint", m: "checkpoint step-000004" },
    { e: "note", s: 5, t: expect.any(Number), k: "warning", m: "x".repeat(400) },
    {
      e: "note",
      s: 3,
      t: expect.any(Number),
      k: "control",
      m: "checkpoint, asked for by page at 127.0.0.1: failed: no room",
    },
  ]);
});
