import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { modelCard } from "../../lib/cli/model-card.ts";
import { defineRecipe, type Recipe } from "../../lib/config/index.ts";
import { minimal } from "../config/recipes.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-card-"));
});
afterEach(() => rmSync(dir, { recursive: true }));

const fresh = defineRecipe(minimal());
const goingOn = { ...fresh, model: { ...fresh.model, folder: "org/base" } } as Recipe;
const card = (recipe: Recipe, source?: string) =>
  modelCard({ run: dir, recipe, checkpoint: "step-000010", source });

test("a model from random weights names no base and no licence", () => {
  const text = card(fresh);
  expect(text).toContain(`# ${fresh.name}\n`);
  expect(text).not.toMatch(/^base_model|^license/m);
  expect(text).toContain("These weights began at random");
  expect(text).toContain("Not measured: the run ended before its closing evaluation.");
});

test.each([
  ["---\nlicense: apache-2.0\ntags: [x]\n---\n# Base", /^license: apache-2.0$/m, /names `apache-2.0`/],
  ['---\r\nlicense: "mit"\r\n---\r\n', /^license: mit$/m, /names `mit`/],
  ["# Base\nlicense: stray", undefined, /names no licence/],
])("the licence is the base's own: %j", (readme, front, said) => {
  const source = join(dir, "base");
  mkdirSync(source);
  writeFileSync(join(source, "README.md"), readme);
  const text = card(goingOn, source);
  expect(text).toMatch(/^base_model: "org\/base"$/m);
  if (front === undefined) expect(text).not.toMatch(/^license:/m);
  else expect(text).toMatch(front);
  expect(text).toMatch(said);
  expect(text).not.toContain("# Base");
});

test("scores before and after stand in one row a domain", () => {
  const cell = (score: number, n = 192) => ({ score, standardError: 0.04, meanTokens: 20.5, n });
  const board = (score: number) => ({
    temperature: 1,
    topP: 1,
    mean: cell(score),
    domains: { math: cell(score), code: cell(score / 2) },
  });
  const summary = { before: [board(0.4)], after: [board(0.8)] };
  writeFileSync(join(dir, "summary.json"), JSON.stringify(summary));
  expect(card(fresh)).toContain("| code | 0.200 ± 0.040 | 0.400 ± 0.040 | 20.5 | 20.5 | 192 |");
});

test("the card says that a quantized base became floats", () => {
  const source = join(dir, "base");
  mkdirSync(source);
  const write = (config: object) => writeFileSync(join(source, "config.json"), JSON.stringify(config));
  write({ quantization_config: { quant_method: "mxfp4" } });
  expect(card(goingOn, source)).toContain("| weights | floats; the base model's are quantized (mxfp4) |");
  write({});
  expect(card(goingOn, source)).not.toContain("quantized");
});
