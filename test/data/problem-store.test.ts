import fc from "fast-check";
import { expect, test } from "vitest";
import { ProblemStore } from "../../lib/data/problem-store.ts";

test("what was put in comes out, in any order, as often as asked, as a copy", () => {
  fc.assert(
    fc.property(fc.array(fc.jsonValue(), { minLength: 1, maxLength: 40 }), (values) => {
      const store = new ProblemStore();
      for (const value of values) store.add(value);
      expect(store.length).toBe(values.length);
      const back = values.map((_, i) => store.at(values.length - 1 - i)).reverse();
      expect(back).toEqual(JSON.parse(JSON.stringify(values)));
    }),
  );
  const store = new ProblemStore();
  store.add({ list: [1] });
  (store.at(0) as { list: number[] }).list.push(2);
  expect(store.at(0)).toEqual({ list: [1] });
});

test("long and short values, and one longer than a page, share the pages", () => {
  const values = ["short", "ä".repeat(5000), "\ud800 half", { tests: "1 2 3\n".repeat(2_000_000) }, "after"];
  const store = new ProblemStore();
  for (const value of values) store.add(value);
  expect(values.map((_, i) => store.at(i))).toEqual(values);
});

test("text costs its bytes, repetitive text far less, and nothing on the heap", () => {
  const store = new ProblemStore();
  const question = "Find all integers n for which ";
  globalThis.gc!();
  const before = process.memoryUsage().heapUsed;
  const n = 50_000;
  for (let i = 0; i < n; i++) store.add({ question: question + i });
  globalThis.gc!();
  const heap = process.memoryUsage().heapUsed - before;
  expect(store.bytes).toBeLessThan(
    n * (question.length + 5 + '{"question":""}'.length + 4 + 8) + 2 * (1 << 22),
  );
  expect(heap).toBeLessThan(4e6); // 50,000 offsets of 8 bytes, in an array that doubles its size
  const packed = new ProblemStore();
  packed.add("0 1 2 3 4 5 6 7 8 9\n".repeat(1_000_000));
  expect(packed.bytes).toBeLessThan(1 << 23);
});
