import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Spool } from "../../lib/trackers/spool.ts";
import { scratch, stepOf } from "./fixtures.ts";

const numbers = (entries: readonly { kind: string; step?: number }[]) => entries.map(({ step }) => step);

test("hands out what was appended, oldest first, until it is taken, also to the next process", () => {
  const folder = scratch();
  const spool = new Spool(folder, "t");
  expect(spool.next(10)).toEqual({ entries: [], ends: [] });
  for (const step of [1, 2, 3]) spool.append(stepOf(step));
  expect(numbers(spool.next(2).entries)).toEqual([1, 2]);
  expect(numbers(spool.next(2).entries)).toEqual([1, 2]);
  spool.taken(spool.next(2), { at: "b" });
  spool.failed();
  spool.close();
  const next = new Spool(folder, "t");
  expect([next.waiting, next.memory, next.delivered]).toEqual([
    1,
    { at: "b" },
    { sent: 2, refused: 0, failures: 1 },
  ]);
  next.taken(next.next(2), undefined);
  expect([next.waiting, next.memory]).toEqual([0, { at: "b" }]);
  next.close();
});

test("a killed process's cursor counts, whatever it had read", () => {
  const folder = scratch();
  const killed = new Spool(folder, "t");
  for (const step of [1, 2, 3]) killed.append(stepOf(step));
  killed.taken(killed.next(1), undefined);
  const next = new Spool(folder, "t");
  expect(numbers(next.next(9).entries)).toEqual([2, 3]);
});

test("a portion is about a MiB at most, and one entry however long", () => {
  const spool = new Spool(scratch(), "t");
  const wide = Object.fromEntries(Array.from({ length: 30_000 }, (_, i) => [`metric/${i}`, i]));
  for (const step of [1, 2, 3, 4]) spool.append(stepOf(step, wide));
  expect(spool.next(50).entries.length).toBeLessThan(4);
  expect(spool.next(50).entries.length).toBeGreaterThan(0);
  spool.close();
});

test("what is refused is kept beside it with the reason", () => {
  const folder = scratch();
  const spool = new Spool(folder, "t");
  for (const step of [1, 2]) spool.append(stepOf(step));
  spool.refused(spool.next(1), "odd");
  expect([spool.waiting, spool.delivered.refused]).toEqual([1, 1]);
  expect(JSON.parse(readFileSync(join(folder, "t.refused.jsonl"), "utf8"))).toMatchObject({ why: "odd" });
  spool.close();
});

test("a cursor behind the file's end (killed between emptying it and saying so) starts at the front", () => {
  const folder = scratch();
  writeFileSync(join(folder, "t.json"), '{"offset":5000,"sent":9,"refused":0,"failures":0}\n');
  const spool = new Spool(folder, "t");
  spool.append(stepOf(10));
  expect([numbers(spool.next(5).entries), spool.delivered.sent]).toEqual([[10], 9]);
  const metrics = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`metric/${i}`, i]));
  for (const step of [11, 12]) spool.append(stepOf(step, metrics)); // after these steps the process is killed again
  const next = new Spool(folder, "t");
  expect([next.waiting, numbers(next.next(5).entries)]).toEqual([3, [10, 11, 12]]);
  next.close();
  spool.close();
});
