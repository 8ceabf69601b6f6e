import { afterEach, expect, test } from "vitest";
import { trustOf } from "../../lib/cli/folder-trust.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import type { Demand } from "../../lib/trust.ts";
import { minimal } from "../config/recipes.ts";

const { argv } = process;
afterEach(() => {
  process.argv = argv;
});
const module: Demand = { field: "verification.modules.a", kind: "module", url: "file:///srv/a.mjs" };

test("--trust allows everything, a recipe what it names, neither nothing", async () => {
  const recipe = defineRecipe({ ...minimal(), verification: { modules: { mine: "/srv/a.mjs" } } });
  expect((await trustOf({ trust: true })).allows(module)).toBe(true);
  expect((await trustOf({}, recipe)).allows(module)).toBe(true);
  expect((await trustOf({}, recipe)).allows({ ...module, url: "file:///srv/b.mjs" })).toBe(false);
  expect((await trustOf({}, recipe, () => [])).allows(module)).toBe(false);
  expect((await trustOf({})).allows(module)).toBe(false);
});

test("the command to repeat is said as a shell takes it", async () => {
  process.argv = ["node", "hone", "rescore", "runs/it's mine", "--all"];
  expect((await trustOf({})).how).toContain(`: hone rescore 'runs/it'\\''s mine' --all --trust. Or name`);
});
