import { expect, test } from "vitest";
import { hashOf, planCells, productOf } from "../../lib/sweeps/cells.ts";
import { parseGrid } from "../../lib/sweeps/grid.ts";
import { gspo } from "../fixtures/custom-gspo.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

test("the cells are the product of the axes, the last one fastest", () => {
  const cells = productOf(parseGrid("optimizer.lr=1e-4|2e-4,a.b.c=x|y|z"));
  expect(cells.map(({ name }) => name)).toEqual([
    "optimizer.lr 1e-4, b.c x",
    "optimizer.lr 1e-4, b.c y",
    "optimizer.lr 1e-4, b.c z",
    "optimizer.lr 2e-4, b.c x",
    "optimizer.lr 2e-4, b.c y",
    "optimizer.lr 2e-4, b.c z",
  ]);
  expect(cells[4]!.settings).toEqual(["optimizer.lr=2e-4", "a.b.c=y"]);
  expect(productOf([])).toEqual([{ name: "base", settings: [] }]);
});

test("an axis that occurs twice, and a grid that is too large, are refused", () => {
  expect(() => productOf(parseGrid("a=1|2,a=3"))).toThrow("the axis a occurs twice");
  const many = Array.from({ length: 13 }, (_, i) => `a${i}=1|2`).join();
  expect(() => productOf(parseGrid(many))).toThrow("8192 cells");
});

test("what is wrong in any cell comes at once, with the nearest name", () => {
  const cells = productOf(parseGrid("optimizer.lrr=1|2,training.steps=-1|5"));
  expect(() => planCells(smallRecipe(), cells)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_CONFIG",
      message: expect.stringMatching(/2 problem\(s\).*did you mean lr\?.*training\.steps/s),
    }),
  );
});

test("a cell's folder is found by its recipe, whatever the seed", () => {
  const base = smallRecipe();
  const idOf = (settings: string[], name = "x") => planCells(base, [{ name, settings }])[0]!.id;
  expect(idOf(["training.steps=7"])).toBe(idOf(["training.steps=7", "seed=99"]));
  expect(idOf(["training.steps=7"])).not.toBe(idOf(["training.steps=8"]));
  expect(idOf([], "lr 1e-4, {a}/../b")).toMatch(/^lr-1e-4-a-\.\.-b-[0-9a-f]{8}$/);
  expect(idOf([], "..")).toMatch(/^cell-[0-9a-f]{8}$/);
});

test("two cells of one name or one recipe are refused", () => {
  const twice = (a: string, b: string, settings: string[]) => () =>
    planCells(smallRecipe(), [
      { name: a, settings: [] },
      { name: b, settings },
    ]);
  expect(twice("a", "a", ["training.steps=9"])).toThrow('"a" and "a" have the same name');
  expect(twice("a", "b", [])).toThrow('"a" and "b" have the same recipe');
});

test("a hash is that of the JSON text", () => {
  // printf '{"a":1}' | sha256sum
  expect(hashOf({ a: 1, b: undefined })).toBe("015abd7f");
});

test("an objective's module is in every cell; a function is refused with what to do", () => {
  const slopes = "./test/fixtures/custom-gspo.ts#gspo";
  const base = smallRecipe({}, { objective: { kind: "custom", slopes } });
  const [cell] = planCells(base, [{ name: "one", settings: ["seed=1"] }]);
  expect(cell!.recipe.objective.slopes).toEqual(base.objective.slopes);
  const called = smallRecipe({}, { objective: { kind: "custom", slopes: gspo } });
  expect(() => planCells(called, [])).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_UNSUPPORTED",
      hint: expect.stringContaining('"./loss.ts#gspo"'),
    }),
  );
});
