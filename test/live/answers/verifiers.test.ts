import { expect, test } from "vitest";
import { verifiers } from "../../../lib/live/answers/verifiers.ts";
import { Watch } from "../../../lib/live/watch.ts";
import { addStep, smallRun } from "../live-run.ts";

const of = (name: string, metrics: Record<string, number>) =>
  Object.fromEntries(Object.entries(metrics).map(([field, value]) => [`verifier/${field}/${name}`, value]));
const asked = (dir: string) => verifiers({ query: new URLSearchParams("run=0"), watch: new Watch([dir]) });

test("adds up what each verifier did, of the history that counts", () => {
  const dir = smallRun(0);
  const counts = { retries: 1, correct: 3, partial: 1, "timed-out": 2, crashed: 1 };
  const step = { ...counts, calls: 10, judged: 9, unscored: 1, seconds: 0.0625 };
  addStep(dir, 1, of("math", { ...step, "p95-ms": 7 }));
  addStep(dir, 2, of("math", { ...step, calls: 0, "timed-out": 16 })); // all calls hit their time limit
  addStep(dir, 3, of("math", { ...step, calls: 99 })); // replaced: the run was resumed at step 2
  addStep(dir, 3, { ...of("math", { ...step, "p95-ms": 8 }), ...of("code", { calls: 0, judged: 0 }) });
  expect(asked(dir)).toEqual([
    { name: "code", calls: 0, judged: 0 },
    {
      ...{ name: "math", judged: 27, correct: 9, partial: 3, unscored: 3 },
      ...{ calls: 20, retries: 3, timeouts: 20, crashes: 3, meanMs: 9.375, p95Ms: 8 },
    },
  ]);
});

test("a log of an older version has no verdicts by verifier, a run without verifiers no rows", () => {
  const dir = smallRun(1);
  expect(asked(dir)).toEqual([]);
  addStep(dir, 2, of("reward:mine", { calls: 4, retries: 0, timeouts: 0.5 }));
  expect(asked(dir)).toEqual([{ name: "reward:mine", calls: 4, retries: 0 }]);
});
