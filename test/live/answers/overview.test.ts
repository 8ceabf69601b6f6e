import { expect, test } from "vitest";
import { overview } from "../../../lib/live/answers/overview.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { STEP_STAGES } from "../../../lib/metrics/index.ts";
import { smallRun } from "../live-run.ts";

test("lists every run, and where the stream goes on from", () => {
  const watch = new Watch([smallRun(2, "one"), smallRun(3, "two")]);
  const { runs, stages, cursor } = overview({ query: new URLSearchParams(), watch });
  expect(runs.map(({ name, rows, run }) => [name, rows, run])).toEqual([
    ["one", 2, 0],
    ["two", 3, 1],
  ]);
  expect(stages).toEqual(STEP_STAGES);
  expect(cursor).toBe(watch.cursor);
});
