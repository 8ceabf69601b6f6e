import { expect, test } from "vitest";
import { ANSWERS } from "../../lib/live/answers.ts";
import { Watch } from "../../lib/live/watch.ts";
import { smallRun } from "./live-run.ts";

/** Asked about an attempt, not a run: answers/explain.test.ts. */
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
