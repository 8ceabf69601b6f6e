import { expect, test } from "vitest";
import { parseGrid } from "../../lib/sweeps/grid.ts";

const shown = (text: string) =>
  parseGrid(text).map(({ name, choices }) => [name, choices.map(({ label, settings }) => [label, settings])]);

test("values are separated by bars, axes by commas", () => {
  expect(shown("optimizer.lr=1e-4|2e-4, lengthPenalty.kind=lp|dap")).toEqual([
    [
      "optimizer.lr",
      [
        ["1e-4", ["optimizer.lr=1e-4"]],
        ["2e-4", ["optimizer.lr=2e-4"]],
      ],
    ],
    [
      "lengthPenalty.kind",
      [
        ["lp", ["lengthPenalty.kind=lp"]],
        ["dap", ["lengthPenalty.kind=dap"]],
      ],
    ],
  ]);
});

test("inside brackets, braces and quotes both belong to the value", () => {
  const text =
    'lengthPenalty={"kind":"lp","bufferTokens":40}|{"kind":"none"},rollouts.stopStrings=["a|b,\\"c"]|[]';
  expect(parseGrid(text).map(({ choices }) => choices.map(({ label }) => label))).toEqual([
    ['{"kind":"lp","bufferTokens":40}', '{"kind":"none"}'],
    ['["a|b,\\"c"]', "[]"],
  ]);
});

test.each([
  ["", "is not an axis"],
  ["optimizer.lr", "is not an axis"],
  ["=1", "is not an axis"],
  ["a=1,", "is not an axis"],
  ["optimizer.lr=1|", "empty value"],
  ["optimizer.lr=", "empty value"],
  ["optimizer.lr=1|2|1", "has 1 twice"],
  ["a=[1", "not closed"],
  ['a="x', "not closed"],
  ["a=1]", "closes nothing"],
])("%j is refused: %s", (text, why) => {
  expect(() => parseGrid(text)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE", message: expect.stringContaining(why) }),
  );
});
