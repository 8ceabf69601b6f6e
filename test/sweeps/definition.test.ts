import { expect, test } from "vitest";
import { axesOf, cellsOf, defineSweep, isSweepDefinition } from "../../lib/sweeps/definition.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

const recipe = smallRecipe();
const axes = {
  lr: { low: ["optimizer.lr=1e-4"], high: ["optimizer.lr=1e-3"] },
  clip: { one: ["objective.clipLow=1"] },
};

test("a sweep file's axes become axes of a grid, all of them or those that are asked for", () => {
  const sweep = defineSweep({ name: "s", recipe, axes });
  expect(axesOf(sweep).map(({ name }) => name)).toEqual(["lr", "clip"]);
  expect(axesOf(sweep, ["lr"])).toEqual([
    {
      name: "lr",
      choices: [
        { label: "low", settings: ["optimizer.lr=1e-4"] },
        { label: "high", settings: ["optimizer.lr=1e-3"] },
      ],
    },
  ]);
  expect(() => axesOf(sweep, ["rl"])).toThrow(
    expect.objectContaining({ code: "HONE_ERR_USAGE", hint: "Its axes: lr, clip." }),
  );
});

test("or it lists its cells", () => {
  const sweep = defineSweep({ name: "s", recipe, cells: { a: [], b: ["training.steps=1"] } });
  expect(cellsOf(sweep)).toEqual([
    { name: "a", settings: [] },
    { name: "b", settings: ["training.steps=1"] },
  ]);
  expect(() => axesOf(sweep, ["a"])).toThrow(
    expect.objectContaining({ hint: "This sweep lists its cells and has no axes." }),
  );
});

test("is told from a recipe", () => {
  expect(isSweepDefinition(defineSweep({ name: "s", recipe, axes }))).toBe(true);
  expect([isSweepDefinition(recipe), isSweepDefinition(null), isSweepDefinition("s")]).toEqual([
    false,
    false,
    false,
  ]);
});

const cells = { a: [], b: ["training.steps=1"] };
test.each([
  ["both axes and cells", { axes, cells }, "either axes or cells"],
  ["neither", {}, "either axes or cells"],
  [
    "a study of a cell that is not there",
    { cells, studies: [{ title: "t", caption: "", arms: { A: "c" } }] },
    '"t" names no cell: c',
  ],
  [
    "lengths against an arm that is not there",
    { cells, studies: [{ title: "t", caption: "", arms: { A: "a" }, lengthsAgainst: "a" }] },
    '"t" has no arm a',
  ],
])("%s is refused", (_, rest, why) => {
  expect(() => defineSweep({ name: "s", recipe, ...rest })).toThrow(why);
});
