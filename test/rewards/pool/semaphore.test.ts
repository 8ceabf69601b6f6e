import { expect, test } from "vitest";
import { Semaphore } from "../../../lib/rewards/pool/semaphore.ts";

test("at most the permitted number runs, in order of arrival, also after a failure", async () => {
  const semaphore = new Semaphore(2);
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
