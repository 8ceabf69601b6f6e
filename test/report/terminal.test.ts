import { expect, test } from "vitest";
import { columnsOf, isLive, printedColumns, rowsOf, usesColor } from "../../lib/report/terminal.ts";

test.each([
  [80, 80],
  [1, 1],
  [120.9, 120],
  [0, 80],
  [-1, 80],
  [Number.NaN, 80],
  [Number.POSITIVE_INFINITY, 80],
  [undefined, 80],
])("a terminal that says %s has %s columns", (columns, expected) => {
  expect(columnsOf({ columns })).toBe(expected);
});

test("what goes to a pipe or a file has no limit", () => {
  expect(printedColumns({ isTTY: true, columns: 60 })).toBe(60);
  expect(printedColumns({ isTTY: true })).toBe(80);
  expect(printedColumns({ columns: 60 })).toBeGreaterThan(1e6);
});

test("a terminal that says no rows has as many as one likes", () => {
  expect([rowsOf({ rows: 24 }), rowsOf({ rows: 0 }), rowsOf({})]).toEqual([24, Infinity, Infinity]);
});

test.each([
  [{}, true, true],
  [{}, undefined, false],
  [{ TERM: "dumb" }, true, false],
  [{ CI: "true" }, true, false],
  [{ CI: "" }, true, true],
  [{ CI: "0" }, true, true],
  [{ NO_COLOR: "1" }, true, true],
])("%o on a terminal %s: live %s", (environment, isTTY, expected) => {
  expect(isLive({ isTTY }, environment)).toBe(expected);
});

test("FORCE_COLOR decides against the terminal either way, and NO_COLOR against FORCE_COLOR", () => {
  expect(usesColor({ isTTY: false }, { FORCE_COLOR: "3" })).toBe(true);
  expect(usesColor({ isTTY: true }, { FORCE_COLOR: "0" })).toBe(false);
  expect(usesColor({ isTTY: true }, { FORCE_COLOR: "1", NO_COLOR: "1" })).toBe(false);
});
