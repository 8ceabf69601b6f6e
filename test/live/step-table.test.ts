import { expect, test } from "vitest";
import { StepTable } from "../../lib/live/step-table.ts";

const row = (step: number, metrics: Record<string, number>, end = 10 * step) => ({
  record: { step, version: step, metrics },
  end,
});

test("keeps every number as it came, and null where a step has none", () => {
  const table = new StepTable();
  for (let step = 1; step <= 200; step++)
    table.add(row(step, { a: step / 3, ...(step % 2 === 0 && { b: -step }) }));
  expect(table.steps.slice(0, 3)).toEqual([1, 2, 3]);
  expect(table.column("a")).toEqual(table.steps.map((step) => step / 3));
  expect(table.column("b")?.slice(-3)).toEqual([-198, null, -200]);
  expect(table.column("a", 198)).toEqual([199 / 3, 200 / 3]);
  expect(table.column("c")).toBeUndefined();
  expect(table.names).toEqual(["a", "b"]);
  expect(table.row(2)).toEqual(row(3, { a: 1 }));
});

test("a step that goes back replaces everything from it on, and leaves nothing of it behind", () => {
  const table = new StepTable();
  for (let step = 1; step <= 5; step++) table.add(row(step, { a: step, b: step }));
  table.add(row(3, { a: 30 }, 60));
  expect(table.steps).toEqual([1, 2, 3]);
  expect(table.column("a")).toEqual([1, 2, 30]);
  expect(table.column("b")).toEqual([1, 2, null]);
  table.add(row(4, { a: 40 }, 70));
  expect(table.column("b")).toEqual([1, 2, null, null]);
});

test("finds the rows that a reader has not seen by the bytes of the log", () => {
  const table = new StepTable();
  for (let step = 1; step <= 3; step++) table.add(row(step, {}));
  expect([0, 10, 15, 30, 99].map((end) => table.rowAfter(end))).toEqual([0, 1, 1, 3, 3]);
});

test("of metrics that are not kept only the names are known", () => {
  const table = new StepTable((name) => name === "b");
  table.add(row(1, { a: 1, b: 2 }));
  table.add(row(2, { a: 3, c: 4 }));
  expect([table.names, table.column("a"), table.column("b")]).toEqual([
    ["a", "b", "c"],
    undefined,
    [2, null],
  ]);
  expect(table.row(0)).toEqual(row(1, { b: 2 }));
  expect(table.ends).toEqual([10, 20]);
});

test("forgets everything when cleared", () => {
  const table = new StepTable();
  table.add(row(1, { a: 1 }));
  table.clear();
  expect([table.length, table.names]).toEqual([0, []]);
});
