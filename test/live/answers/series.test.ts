import { expect, test } from "vitest";
import { series } from "../../../lib/live/answers/series.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { readRunLog } from "../../../lib/metrics/index.ts";
import { addStep, smallRun } from "../live-run.ts";

test("gives the log's own numbers, to the last digit", () => {
  const dir = smallRun(4);
  addStep(dir, 5, { a: 0.1 + 0.2, "odd, name&": 1e-300 });
  const query = new URLSearchParams([
    ["run", "0"],
    ["name", "a"],
    ["name", "b"],
    ["name", "odd, name&"],
    ["name", "none"],
  ]);
  const answer = series({ query, watch: new Watch([dir]) });
  const log = readRunLog(`${dir}/steps.jsonl`);
  expect(answer.steps).toEqual(log.map(({ step }) => step));
  expect(answer.series["a"]).toEqual(log.map(({ metrics }) => metrics["a"]));
  expect(answer.series["b"]).toEqual([null, -2, null, -4, null]);
  expect(answer.series["odd, name&"]?.at(-1)).toBe(1e-300);
  expect(Object.keys(answer.series)).toHaveLength(3);
});
