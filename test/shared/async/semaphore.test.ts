import { expect, test } from "vitest";
import { Semaphore } from "../../../lib/shared/async/semaphore.ts";

test("at most the permitted number runs, in order of arrival, also after a failure", async () => {
  const semaphore = new Semaphore(() => 2);
  const order: number[] = [];
  let running = 0;
  let most = 0;
  const task = (i: number) => async () => {
    order.push(i);
    running += 1;
    most = Math.max(most, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    if (i === 1) throw new Error("task 1");
    return i;
  };
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map((i) => semaphore.run(task(i))));
  expect(results.map((result) => result.status === "fulfilled" && result.value)).toEqual([0, false, 2, 3, 4]);
  expect(order).toEqual([0, 1, 2, 3, 4]);
  expect(most).toBe(2);
  await Promise.all([5, 6, 7, 8].map((i) => semaphore.run(task(i))));
  expect(most).toBe(2);
});

test("permits that there are more of by now go to those that wait longest", async () => {
  let permits = 1;
  const semaphore = new Semaphore(() => permits);
  const begun: number[] = [];
  const ends: (() => void)[] = [];
  const all = [0, 1, 2, 3, 4].map((i) =>
    semaphore.run(() => {
      begun.push(i);
      return new Promise<void>((end) => ends.push(end));
    }),
  );
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  expect(begun).toEqual([0]);
  permits = 3;
  ends[0]!();
  await turn();
  expect(begun).toEqual([0, 1, 2, 3]);
  permits = 1;
  ends[1]!();
  await turn();
  expect(begun, "of fewer none is given before enough are back").toEqual([0, 1, 2, 3]);
  ends[2]!();
  ends[3]!();
  await turn();
  ends[4]!();
  await Promise.all(all);
  expect(begun).toEqual([0, 1, 2, 3, 4]);
});
