import { expect, test } from "vitest";
import { ANSWERS } from "../../lib/live/answers.ts";
import { Watch } from "../../lib/live/watch.ts";
import { staticReachOf } from "../architecture/source-tree.ts";
import { smallRun } from "./live-run.ts";

/** This question is about an attempt, not a run; answers/explain.test.ts tests it. */
const ELSEWHERE = ["explain"];

test("every question has an answer that is JSON, also for a run of one step", async () => {
  const watch = new Watch([smallRun(1)]);
  for (const [name, answer] of Object.entries(ANSWERS)) {
    if (ELSEWHERE.includes(name)) continue;
    const value = await answer({ query: new URLSearchParams("run=0"), watch });
    expect(value, name).not.toBeUndefined();
    expect(JSON.parse(JSON.stringify(value)), name).toEqual(value);
  }
});

test("a page that nobody has asked yet has loaded nothing that trains, computes or reads completions", () => {
  const modules = new Set(staticReachOf("lib/cli/watch.ts").map((file) => file.split("/")[1]));
  expect(modules).toContain("live");
  for (const module of ["orchestration", "domains", "config", "native", "samples", "explain"])
    expect(modules).not.toContain(module);
});
