import { expect, test } from "vitest";
import { slowdown } from "../patience.ts";

test.each([
  ["0.00 0.10 0.20 1/200 77", 2, 2],
  ["2.00 1.00 0.20 2/200 77", 2, 2],
  ["12.00 9.00 3.00 4/200 77", 2, 9],
  ["1.00 12.10 3.00 1/200 77", 2, 10.5],
  ["0.50 0.10 0.00 16/200 77", 4, 6],
])("a load of %s on %s cores: %s times", (loadavg, cores, times) => {
  expect(slowdown(loadavg, cores, undefined)).toBe(times);
});

test("HONE_TEST_PATIENCE decides", () => {
  expect(slowdown("99 99 99 99/200 1", 2, "3")).toBe(3);
});

test("vitest waits that long for this very test, by how busy the machine was when this file began", ({
  task,
}) => {
  expect(task.timeout).toBeGreaterThanOrEqual(30_000 * Math.min(2, slowdown()));
});
