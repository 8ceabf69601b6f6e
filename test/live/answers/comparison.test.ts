import { join } from "node:path";
import { expect, test } from "vitest";
import { comparison } from "../../../lib/live/answers/comparison.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { scratch, table, writeRun } from "../../runs/folders.ts";
import { temporary } from "../live-run.ts";

const ask = (dirs: readonly string[], query: string) =>
  comparison({ query: new URLSearchParams(query), watch: new Watch(dirs) });

test("runs are compared with the first that is named, with the number of fields that differ", async () => {
  const dir = scratch();
  const many = Object.fromEntries(Array.from({ length: 99 }, (_, i) => [`field${i}`, i]));
  const a = writeRun(join(dir, "a"), { state: "done", after: table(0.5, 0.7) });
  const b = writeRun(join(dir, "b"), { state: "done", after: table(0.75, 0.65), config: many });
  const found = (await ask([a, b], "run=1&run=0"))!;
  expect(found.runs.map((run) => run.dir)).toEqual([b, a]);
  expect(found.fields).toBe(99);
  expect(found.recipe).toHaveLength(60);
  const [score] = found.differences[0]!.results;
  expect(score).toMatchObject({ measure: "score", domain: "mean", is: "lower" });
  expect(score!.difference!.mean).toBeCloseTo(0.6 - 0.7, 12);
});

test("is null for one run, or one without a manifest; a run that is not there is an error", async () => {
  const a = writeRun(join(scratch(), "a"), {});
  expect(await ask([a], "run=0&run=0")).toBeNull();
  expect(await ask([a, temporary()], "run=0&run=1")).toBeNull();
  await expect(ask([a], "run=0&run=7")).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});
