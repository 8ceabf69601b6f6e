import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadSweep, progressText } from "../../lib/cli/sweep.ts";
import { recipeInput } from "../../lib/config/index.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";

let dir: string;
beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-cli-sweep-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

function file(name: string, text: string): string {
  writeFileSync(join(dir, name), text);
  return join(dir, name);
}
const RECIPE = JSON.stringify(recipeInput(smallRecipe()));
const sweepFile = (rest: string) =>
  `import { defineRecipe, defineSweep } from "hone-rl";
  export default defineSweep({ name: "s", recipe: defineRecipe(${RECIPE}), ${rest} });`;

const hone = (...args: string[]) => honeHere(["sweep", ...args]);

test("a recipe is a sweep of itself; a sweep file is one with its own name; settings go to the recipe of either", async () => {
  const recipe = await loadSweep(file("r.mjs", `export default ${RECIPE};`), ["training.steps=4"]);
  expect(recipe).toMatchObject({ name: "small-sweep", recipe: { training: { steps: 4 } } });
  const sweep = await loadSweep(file("s.ts", sweepFile("cells: { a: [] }")), ["training.steps=5"]);
  expect(sweep).toMatchObject({ name: "s", recipe: { training: { steps: 5 } }, cells: { a: [] } });
  await expect(loadSweep(file("n.mjs", "export default 7;"), [])).rejects.toMatchObject({
    code: "HONE_ERR_USAGE",
  });
  await expect(loadSweep(join(dir, "nowhere.ts"), [])).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
});

test("the shipped sweeps: the paper's candidate sets, and its ablations at the size of the quick start", async () => {
  const load = (name: string) => loadSweep(join(import.meta.dirname, `../../recipes/sweeps/${name}.ts`), []);
  const { axes } = await load("apriel");
  // appendix C, the table of candidate values
  expect(Object.entries(axes!).map(([name, choices]) => [name, Object.keys(choices).length])).toEqual([
    ["learning rate", 5],
    ["clip", 2],
    ["domain rates", 6],
    ["length penalty", 2],
    ["output tokens", 3],
  ]);
  expect(axes!["domain rates"]!["0.30/0.30/0.15/0.15/0.10"]).toEqual([
    "domains.math.weight=0.3",
    "domains.code.weight=0.3",
    "domains.logic.weight=0.15",
    "domains.instruction-following.weight=0.15",
    "domains.function-calling.weight=0.1",
  ]);
  const { studies, seeds } = await load("ablations");
  expect(seeds).toBe(3);
  expect(studies!.map(({ title, arms }) => [title, Object.keys(arms)])).toEqual([
    ["Domain mixture", ["Uniform", "Math & code", "Our mixture"]],
    ["Length penalty", ["LP", "None", "DAP"]],
    ["Domain sampler", ["Static", "Adaptive", "Trained"]],
  ]);
});

test("--list shows the cells and runs nothing", async () => {
  const recipe = file("l.mjs", `export default ${RECIPE};`);
  const { status, stdout } = await hone(
    recipe,
    "--grid",
    "optimizer.lr=1e-4|2e-4",
    "--grid",
    "sampler=static",
    "--seeds",
    "2",
    "--list",
  );
  expect([status, stdout]).toEqual([
    0,
    "optimizer.lr 1e-4, sampler static\n  optimizer.lr=1e-4\n  sampler=static\noptimizer.lr 2e-4, sampler static\n  optimizer.lr=2e-4\n  sampler=static\n\n2 cells, seeds 7, 8\n",
  ]);
  const json = JSON.parse((await hone(recipe, "--list", "--json")).stdout) as object;
  expect(json).toMatchObject({
    name: "small-sweep",
    seeds: [7, 8, 9],
    cells: [{ name: "base", settings: [] }],
  });
  expect(existsSync(join(dir, "runs"))).toBe(false);
});

test.each([
  [["--grid", "optimizer.lrr=1"], "did you mean lr?"],
  [["--grid", "optimizer.lr"], "is not an axis"],
  [["--seeds", "0"], "--seeds is 0; it must be a whole number"],
  [["--parallel", "two"], "--parallel is two; it must be a whole number"],
  [["--axes", "x"], "has no axis x"],
])("%j is refused before anything runs", async (args, why) => {
  const { status, stderr } = await hone(file("e.mjs", `export default ${RECIPE};`), ...args);
  expect([status, stderr]).toEqual([2, expect.stringContaining(why)]);
  expect(existsSync(join(dir, "runs"))).toBe(false);
});

test("progress counts what is done and failed, and says where each process is", () => {
  file("a.log", "step=12 score=0.5\n");
  const entry = (state: "done" | "failed" | "running" | "waiting", cell: string | undefined, log = "") => ({
    id: "",
    cell,
    seed: 3,
    state,
    log,
  });
  const jobs = [
    entry("done", "x"),
    entry("failed", "y"),
    entry("running", "z", "a.log"),
    entry("running", undefined, "b.log"),
    entry("waiting", "w"),
  ];
  expect(progressText(dir, jobs)).toBe("1 of 5 done, 1 failed | z, seed 3: step 12 | warm start, seed 3");
});
