import { expect, test } from "vitest";
import { measureTable } from "../../lib/traces/tables.ts";

test("shares in percent, sizes in tenths, a real minus sign, and a dash for what is not there", () => {
  const interval = { low: -0.02, high: 0.011 };
  const rows = [
    {
      name: "verification",
      percent: true,
      sides: [{ value: 0.053 }, { value: 0.081 }],
      difference: { value: 0.028, interval },
    },
    {
      name: "tokens per step",
      percent: false,
      sides: [undefined, { value: 1234.5 }],
      difference: { value: -3 },
    },
  ];
  expect(measureTable("what", rows, ["a", "b"])).toEqual({
    head: ["what", "a", "95 %", "b", "95 %", "Δ", "95 %"],
    rows: [
      ["verification", "5.3", "–", "8.1", "–", "+2.8", "−2.0 to +1.1"],
      ["tokens per step", "–", "–", "1235", "–", "−3.0", "–"],
    ],
  });
  expect(measureTable("what", [{ name: "n", percent: false, sides: [{ value: 2 }] }], ["a"]).rows).toEqual([
    ["n", "2.0", "–"],
  ]);
});
