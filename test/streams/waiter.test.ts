import { expect, test, vi } from "vitest";
import { Notifier } from "../../lib/streams/notifier.ts";
import { Waiter } from "../../lib/streams/waiter.ts";

test("looks are made at growing pauses up to the longest, and at once again after news", async () => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  try {
    const notifier = new Notifier();
    const waiter = new Waiter(notifier, { first: 4, most: 9 });
    const looks: number[] = [];
    const look = async () => {
      looks.push(performance.now());
      return {};
    };
    const start = performance.now();
    const end = waiter.until("t", { waitMs: 60 }, look);
    await vi.advanceTimersByTimeAsync(30);
    notifier.ring("t");
    await vi.advanceTimersByTimeAsync(100);
    expect(await end).toBeUndefined();
    expect(looks.map((at) => at - start)).toEqual([0, 4, 10, 19, 28, 30, 34, 40, 49, 58, 60]);
  } finally {
    vi.useRealTimers();
  }
});

test("a look is made when something is due, however long the pause", async () => {
  const waiter = new Waiter(new Notifier(), { first: 60_000, most: 60_000 });
  let looks = 0;
  const look = async () => (++looks < 3 ? { nextMs: 5 } : { found: looks });
  expect(await waiter.until("t", { waitMs: 60_000 }, look)).toBe(3);
});

test("what is found while the wait is called off is not lost", async () => {
  const off = new AbortController();
  const waiter = new Waiter(new Notifier(), { first: 1, most: 1 });
  const look = async () => {
    off.abort();
    return { found: "leased" };
  };
  expect(await waiter.until("t", { waitMs: 5, signal: off.signal }, look)).toBe("leased");
});
