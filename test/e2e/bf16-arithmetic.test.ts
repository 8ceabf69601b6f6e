import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { info } from "../../lib/native/index.ts";
import { HONE } from "../fixtures/command-line.ts";
import { honeHere } from "../fixtures/hone-here.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { noAddon } from "./native-core.ts";

const dir = mkdtempSync(join(tmpdir(), "hone-bf16-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** Runs a command with an instruction set; default: the core's best. */
function hone(args: readonly string[], isa?: string) {
  const env = { ...process.env, ...(isa !== undefined && { HONE_ISA: isa }) };
  const { status, stdout, stderr } = spawnSync(process.execPath, [...HONE, ...args], {
    encoding: "utf8",
    env,
  });
  return { status, text: stdout + stderr };
}

const hasSets = noAddon === undefined && info().isa.startsWith("avx");

beforeAll(async () => {
  if (!hasSets) return;
  const { config } = smallRecipe().model;
  const recipe = smallRecipe(
    { steps: 3 },
    { model: { config: config!, weightStorage: "bf16", arithmetic: "bf16" } },
  );
  writeFileSync(join(dir, "recipe.json"), JSON.stringify(recipe));
  const { status, stderr } = await honeHere(["run", join(dir, "recipe.json"), "--dir", join(dir, "run")]);
  expect([status, stderr]).toEqual([0, expect.any(String)]);
});

test.skipIf(!hasSets)("a run in bf16 arithmetic replays to the bit on every vector set of this core", () => {
  const run = JSON.parse(readFileSync(join(dir, "run", "run.json"), "utf8")) as object;
  expect(run).toMatchObject({ versions: { isa: info().isa, arithmetic: "bf16" } });
  const sets = ["avx2", "avx512", "avx512bf16"];
  const said = sets
    .slice(0, sets.indexOf(info().isa) + 1)
    .map((isa) => /weights [0-9a-f]{64}$/m.exec(hone(["replay", join(dir, "run")], isa).text)?.[0]);
  expect(said).toEqual(said.map(() => expect.stringMatching(/^weights/)));
  expect(new Set(said).size).toBe(1);
});

test.skipIf(!hasSets)("on a set that rounds otherwise a replay says so before it begins", () => {
  const { status, text } = hone(["replay", join(dir, "run")], "baseline");
  expect(status).not.toBe(0);
  expect(text).toContain(
    `HONE_ERR_REPLAY  ${join(dir, "run")} was computed on the instruction set ${info().isa}; this core runs on baseline`,
  );
});
