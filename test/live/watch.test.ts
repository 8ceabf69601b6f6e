import { expect, test, vi } from "vitest";
import { Watch } from "../../lib/live/watch.ts";
import { addStep, smallRun, writeStatus } from "./live-run.ts";

const steps = (text: string) =>
  [...text.matchAll(/"record":\{"step":(\d+)/g)].map(([, step]) => Number(step));

test("a listener that comes back is told the steps it missed, of every run, and how they are now", () => {
  const [a, b] = [smallRun(2), smallRun(1)];
  const watch = new Watch([a, b]);
  const seen = watch.cursor;
  addStep(a, 3);
  addStep(b, 2);
  writeStatus(a);
  watch.look();
  const missed = watch.missed(seen);
  expect(steps(missed)).toEqual([3, 2]);
  expect(missed.match(/^event: run$/gm)).toHaveLength(2);
  expect(missed).toContain(`id: ${watch.cursor}`);
  expect(steps(watch.missed(watch.cursor))).toEqual([]);
});

test.each(["", "rubbish", "1.2", "1.2_3.4"])(
  "a cursor of another time (%j) means: load everything",
  (cursor) => {
    const watch = new Watch([smallRun(1), smallRun(1)]);
    expect(watch.missed(cursor)).toContain("event: reset");
  },
);

test("so does one that lies too far back", () => {
  const dir = smallRun(1);
  const watch = new Watch([dir]);
  const seen = watch.cursor;
  for (let step = 2; step < 600; step++) addStep(dir, step);
  watch.look();
  expect(watch.missed(seen)).toContain("event: reset");
});

test("looks by itself only while somebody listens, and when asked, at most twice a second", () => {
  vi.useFakeTimers();
  try {
    const dir = smallRun(1);
    const watch = new Watch([dir]);
    watch.start();
    addStep(dir, 2);
    vi.advanceTimersByTime(60_000);
    expect(watch.runs[0]!.table.length).toBe(1);
    watch.refresh();
    expect(watch.runs[0]!.table.length).toBe(2);
    addStep(dir, 3);
    watch.refresh();
    expect(watch.runs[0]!.table.length).toBe(2);
    vi.spyOn(watch.stream, "listeners", "get").mockReturnValue(1);
    vi.advanceTimersByTime(500);
    expect(watch.runs[0]!.table.length).toBe(3);
    watch.close();
  } finally {
    vi.useRealTimers();
  }
});
