import { expect, test } from "vitest";
import { Credits } from "../../../lib/orchestration/pipeline/credits.ts";

test("a credit waits until one is given back, first come first served", async () => {
  const credits = new Credits(1);
  const order: string[] = [];
  expect(await credits.take()).toBe(true);
  const a = credits.take().then(() => order.push("a"));
  const b = credits.take().then(() => order.push("b"));
  expect(credits.free).toBe(0);
  credits.give(1);
  await a;
  expect(order).toEqual(["a"]);
  credits.give(1);
  await b;
  expect(order).toEqual(["a", "b"]);
});

test("paused, none is free; closed, all who wait and all who come later get none", async () => {
  const credits = new Credits(2);
  credits.pause();
  let granted = false;
  const first = credits.take().then((yes) => {
    granted = yes;
  });
  await Promise.resolve();
  expect(granted).toBe(false);
  credits.resume();
  await first;
  expect(granted).toBe(true);
  await credits.take();
  const waiting = credits.take();
  credits.close();
  expect(await waiting).toBe(false);
  expect(await credits.take()).toBe(false);
});

test("a credit that comes back twice is a bug", () => {
  expect(() => new Credits(3).give(1)).toThrowError(expect.objectContaining({ code: "HONE_ERR_INTERNAL" }));
});

test("what is given back is free at once, and granted when whoever made the credits says so", async () => {
  let grant = () => {};
  const credits = new Credits(1, (later) => {
    grant = later;
  });
  expect(await credits.take()).toBe(true);
  let granted = false;
  const second = credits.take().then((yes) => {
    granted = yes;
  });
  credits.give(1);
  await Promise.resolve();
  expect([credits.free, granted]).toEqual([1, false]);
  grant();
  await second;
  expect([credits.free, granted]).toEqual([0, true]);
});
