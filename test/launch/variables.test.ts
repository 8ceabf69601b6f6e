import { expect, test } from "vitest";
import { whole } from "../../lib/launch/variables.ts";

test("an integer, or what stands for it", () => {
  expect(whole({ N: "12" }, "N")).toBe(12);
  expect([whole({}, "N", { otherwise: "3" }), whole({ N: "" }, "N", { otherwise: "3" })]).toEqual([3, 3]);
});

test.each(["1.5", "0x3", " 1", "99999999999", "-2"])("%j is none", (text) => {
  expect(() => whole({ N: text }, "N")).toThrow(expect.objectContaining({ details: { variable: "N" } }));
});

test("one that is too small, and one that is not there", () => {
  expect(() => whole({ N: "0" }, "N", { least: 1 })).toThrow('N is "0"; it must be an integer of at least 1');
  expect(() => whole({}, "N")).toThrow("N is not set");
});
