import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { summary } from "../../../lib/live/answers/summary.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { smallRun } from "../live-run.ts";

test("is null until there is one", () => {
  const dir = smallRun(1);
  const question = { query: new URLSearchParams("run=0"), watch: new Watch([dir]) };
  expect(summary(question)).toBeNull();
  writeFileSync(join(dir, "summary.json"), '{"steps":3}');
  expect(summary(question)).toEqual({ steps: 3, notes: [] });
});
