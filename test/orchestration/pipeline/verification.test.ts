import { expect, test } from "vitest";
import type { GroupRollouts } from "../../../lib/orchestration/pipeline/actor.ts";
import { verifyGroups } from "../../../lib/orchestration/pipeline/verification.ts";
import type { Rollout, Verdict } from "../../../lib/records.ts";
import { Channel } from "../../../lib/shared/async/channel.ts";
import { type Deferred, deferred } from "../../../lib/shared/async/deferred.ts";
import { requestOf } from "../pipeline-accounting.ts";

const groupOf = (group: number, attempts = 2): GroupRollouts => ({
  request: requestOf(group, 0),
  rollouts: Array.from(
    { length: attempts },
    (_, attempt) => ({ attempt, text: `${group}.${attempt}` }) as unknown as Rollout,
  ),
});
const verdictOf = ({ text }: Rollout): Verdict => ({ status: "wrong", score: 0, reason: text });

function bench(concurrency: number | (() => number)) {
  const groups = new Channel<GroupRollouts>();
  const calls: { texts: string[]; answer: Deferred<Verdict[]> }[] = [];
  const load = { groups: 0 };
  const judge = (rollouts: readonly Rollout[]) => {
    const answer = deferred<Verdict[]>();
    calls.push({ texts: rollouts.map((r) => r.text), answer });
    return answer.promise;
  };
  const judged = verifyGroups(
    groups,
    judge,
    load,
    typeof concurrency === "number" ? () => concurrency : concurrency,
  );
  const next = judged.next(); // starts the stage
  return { groups, calls, load, judged, next };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));
const answer = (call: { texts: string[]; answer: Deferred<Verdict[]> }) =>
  call.answer.resolve(call.texts.map((text) => verdictOf({ text } as Rollout)));

test("what comes in while a call is out goes out together in the next; verdicts go to their groups", async () => {
  const { groups, calls, load, judged, next } = bench(1);
  groups.push(groupOf(0, 1));
  await turn();
  for (const n of [1, 2]) groups.push(groupOf(n, n + 1));
  await turn();
  expect(calls.map((c) => c.texts)).toEqual([["0.0"]]);
  expect(load.groups).toBe(3);
  answer(calls[0]!);
  await next;
  await turn();
  expect(calls[1]!.texts).toEqual(["1.0", "1.1", "2.0", "2.1", "2.2"]);
  answer(calls[1]!);
  const second = (await judged.next()).value!;
  const third = (await judged.next()).value!;
  expect([second, third].map(({ verdicts }) => verdicts.map((v) => ("reason" in v ? v.reason : "")))).toEqual(
    [
      ["1.0", "1.1"],
      ["2.0", "2.1", "2.2"],
    ],
  );
  expect(load.groups).toBe(0);
  groups.end();
  expect((await judged.next()).done).toBe(true);
});

test("what comes together goes out together, though nothing else is out", async () => {
  const { groups, calls, next } = bench(2);
  for (const n of [0, 1, 2]) groups.push(groupOf(n, 1));
  await turn();
  expect(calls.map((c) => c.texts)).toEqual([["0.0", "1.0", "2.0"]]);
  answer(calls[0]!);
  await next;
});

test("the last groups are judged although no more will come", async () => {
  const { groups, calls, judged, next } = bench(1);
  groups.push(groupOf(0, 1));
  groups.end();
  await turn();
  answer(calls[0]!);
  expect((await next).value?.request.group).toBe(0);
  expect((await judged.next()).done).toBe(true);
});

test("with more concurrency a quick group overtakes a slow one", async () => {
  const { groups, calls, next } = bench(2);
  groups.push(groupOf(0));
  await turn();
  groups.push(groupOf(1));
  await turn();
  answer(calls[1]!);
  expect((await next).value?.request.group).toBe(1);
});

test("verification that is lost as a whole ends the stage with the error", async () => {
  const { groups, calls, next } = bench(1);
  groups.push(groupOf(0));
  await turn();
  calls[0]!.answer.reject(new Error("pool is gone"));
  await expect(next).rejects.toThrow("pool is gone");
});

test("calls that there are more of by now are used with the next answer", async () => {
  let most = 1;
  const { groups, calls, judged, next } = bench(() => most);
  for (const group of [0, 1]) {
    groups.push(groupOf(group));
    await turn();
  }
  expect(calls).toHaveLength(1);
  most = 2;
  groups.push(groupOf(2));
  await turn();
  expect(calls).toHaveLength(2);
  groups.push(groupOf(3));
  await turn();
  expect(calls).toHaveLength(2);
  for (const call of calls) answer(call);
  expect((await next).value?.request.group).toBe(0);
  await judged.return(undefined);
});
