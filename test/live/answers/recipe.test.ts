import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { recipe } from "../../../lib/live/answers/recipe.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { smallRun } from "../live-run.ts";

test("is run.json, or null where there is none yet", () => {
  const dir = smallRun(1);
  const question = { query: new URLSearchParams("run=0"), watch: new Watch([dir]) };
  expect(recipe(question)).toMatchObject({ name: "small", seeds: { run: 7 } });
  rmSync(join(dir, "run.json"));
  expect(recipe(question)).toBeNull();
});
