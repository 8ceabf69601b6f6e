import { expect, test } from "vitest";
import { Timeline } from "../../lib/simulate/timeline.ts";
import { VerifierWorkers } from "../../lib/simulate/verifier-workers.ts";

test("answers go to the worker that is free first; a call is over with its last", async () => {
  const timeline = new Timeline();
  const workers = new VerifierWorkers(2, timeline);
  const over: [string, number][] = [];
  const call = (name: string, seconds: readonly number[]) =>
    workers.judge(seconds).then((verdicts) => over.push([`${name} ${verdicts.length}`, timeline.seconds]));
  void call("a", [4, 1, 1]);
  void call("b", [3]);
  void call("c", [1]);
  await timeline.run(() => over.length === 3);
  // one worker: 4 + 1 seconds, the other: 1 + 1 + 3
  expect(over).toEqual([
    ["a 3", 4],
    ["b 1", 5],
    ["c 1", 5],
  ]);
  expect([workers.judged, workers.busySeconds, workers.waitedSeconds]).toEqual([5, 10, 4 + 1 + 2 + 5 + 5]);
});
