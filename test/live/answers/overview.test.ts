import { expect, test } from "vitest";
import { overview } from "../../../lib/live/answers/overview.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { smallRun } from "../live-run.ts";

test("lists every run, and where the stream goes on from", () => {
  const watch = new Watch([smallRun(2, "one"), smallRun(3, "two")]);
  const { runs, cursor } = overview({ query: new URLSearchParams(), watch });
  expect(runs.map(({ name, rows, run }) => [name, rows, run])).toEqual([
    ["one", 2, 0],
    ["two", 3, 1],
  ]);
  expect(cursor).toBe(watch.cursor);
});
