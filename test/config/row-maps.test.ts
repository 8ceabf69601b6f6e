import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { recipeDemands } from "../../lib/config/demands.ts";
import { adoptRowMaps, defineRecipe, overrideRecipe, recipeInput } from "../../lib/config/index.ts";
import { openProblemSource, rowMapOf } from "../../lib/domains/index.ts";
import { fileHash } from "../../lib/trust.ts";
import { minimal } from "./recipes.ts";

// Deliberate faults (mutants) that these tests detect: an override loses functions, the maps of sets are ignored, a
// module has no hash.

const folder = mkdtempSync(join(tmpdir(), "hone-row-maps-"));
afterAll(() => rmSync(folder, { recursive: true }));
const path = join(folder, "rows.mjs");
writeFileSync(path, "export const toRow = ({ a }) => ({ question: a, answer: '1' });");

const toRow = (row: { a: string }) => ({ question: row.a, answer: "1" });
const other = (row: { a: string }) => ({ question: row.a, answer: "2" });
const recipeOf = (map: unknown, set: unknown = map) => {
  const source = (one: unknown) => ({ kind: "jsonl", path: "rows.jsonl", map: one });
  return defineRecipe({
    ...minimal(),
    domains: { math: { weight: 1, source: source(map) } },
    evaluation: { sets: { more: { source: { ...source(set), verifier: "math" } } } },
  } as never);
};
const mapIn = (recipe: ReturnType<typeof recipeOf>, name = "math") =>
  ((recipe.domains[name] ?? recipe.evaluation.sets[name])!.source as { map: object }).map;

test("a function is kept beside the recipe, and in it by name and hash", () => {
  const recipe = recipeOf(toRow, other);
  expect(mapIn(recipe)).toEqual({ function: "toRow", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect([rowMapOf(mapIn(recipe)), rowMapOf(mapIn(recipe, "more"))]).toEqual([toRow, other]);
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)) as never);
  expect(read).toEqual(recipe);
  expect(rowMapOf(mapIn(read))).toBeUndefined();
  const changed = overrideRecipe(recipe, ["optimizer.lr=1e-5"]);
  expect([rowMapOf(mapIn(changed)), rowMapOf(mapIn(changed, "more"))]).toEqual([toRow, other]);
  expect(rowMapOf(mapIn(defineRecipe(recipeInput(recipe))))).toBe(toRow);
});

test("a module is kept by place and hash, and is a demand of what opens the problems", () => {
  const recipe = recipeOf(`${path}#toRow`);
  expect(mapIn(recipe)).toEqual({ module: `${path}#toRow`, sha256: fileHash(path) });
  expect(recipeDemands(recipe, ["problems"])).toEqual(
    ["domains.math.source.map", "evaluation.sets.more.source.map"].map((field) => ({
      field,
      kind: "module",
      url: `file://${path}`,
      sha256: fileHash(path),
    })),
  );
  expect(defineRecipe(JSON.parse(JSON.stringify(recipe)) as never)).toEqual(recipe);
});

test.each<[unknown, RegExp]>([
  ["rows.mjs", /map: .*module by path/],
  ["./not-here.mjs", /map: .*no such file/],
  [7, /map/],
  [{ module: "data:text/javascript,0", sha256: "0".repeat(64) }, /map/],
])("%j is no map", (map, message) => {
  expect(() => recipeOf(map)).toThrow(message);
});

test("a map that is not in this process is an error where rows are read", async () => {
  const read = defineRecipe(JSON.parse(JSON.stringify(recipeOf(toRow))) as never);
  const { source } = read.domains["math"]!;
  await expect(openProblemSource(source, { seed: 0, ordinal: 0, domain: "math" })).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: "map: the function toRow is not available in this process, only its name",
  });
});

test("a record is given the functions of the script's recipe, unless they are others", () => {
  const recorded = defineRecipe(JSON.parse(JSON.stringify(recipeOf(toRow))) as never);
  expect(() => adoptRowMaps(recorded, recipeOf(other, toRow), "runs/a")).toThrow(
    /math\.source\.map: has hash [0-9a-f]{64}; the run in runs\/a has one with hash/,
  );
  adoptRowMaps(recorded, recipeOf(toRow), "runs/a");
  expect([rowMapOf(mapIn(recorded)), rowMapOf(mapIn(recorded, "more"))]).toEqual([toRow, toRow]);
});
