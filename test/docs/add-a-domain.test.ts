// Follows docs/how-to/add-a-domain.md in a copy of lib/.
import { execFileSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import type * as Config from "../../lib/config/index.ts";
import type * as Domains from "../../lib/domains/index.ts";
import type * as Rewards from "../../lib/rewards/index.ts";
import { minimal } from "../config/recipes.ts";
import { longest } from "../long.ts";
import { applyPage } from "./page-diffs.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const page = readFileSync(join(root, "docs/how-to/add-a-domain.md"), "utf8");
const folder = mkdtempSync(join(root, "build", "how-to-domain-"));
afterAll(() => rmSync(folder, { recursive: true }));

cpSync(join(root, "lib"), join(folder, "lib"), { recursive: true });
const files = applyPage(page, root, folder);
const load = async <T>(room: string): Promise<T> =>
  (await import(join(folder, "lib", room, "index.ts"))) as T;
const { openProblemSource, loadCaseReader } = await load<typeof Domains>("domains");

test("the page is one folder and one changed file", () => {
  expect(files.filter((file) => !file.startsWith("lib/domains/reversal/"))).toEqual([
    "lib/domains/registry.ts",
  ]);
});

describe("the domain of the page", () => {
  test("makes problems that the pool judges", async () => {
    const { VerifierPool } = await load<typeof Rewards>("rewards");
    const source = await openProblemSource("procedural/reversal", { seed: 1, ordinal: 0 });
    const problem = source.problem(3);
    const right = [...problem.question.slice("Reverse: ".length)].reverse().join("");
    await using pool = new VerifierPool({ workers: 1 });
    const answers = [right, `${right}x`].map((text) => `<think></think>${text}<eos>`);
    const asked = answers.map((text) => ({ problem, text, finish: "eos" as const }));
    expect((await pool.verify(asked)).map(({ status }) => status)).toEqual(["correct", "wrong"]);
  }, 60_000);

  test("reads its data set, with its option", async () => {
    const path = join(folder, "words.jsonl");
    const words = Array.from({ length: 40 }, (_, i) => ({ word: `word${"x".repeat(i)}` }));
    writeFileSync(path, words.map((row) => JSON.stringify(row)).join("\n"));
    const spec = { kind: "backwards", path, maxLetters: 10 } as unknown as Parameters<
      typeof openProblemSource
    >[0];
    const source = await openProblemSource(spec, { seed: 1, ordinal: 0 });
    const asked = Array.from({ length: 20 }, (_, i) => source.problem(i).question);
    expect(Math.max(...asked.map((question) => question.length))).toBeLessThanOrEqual(
      "Reverse: ".length + 10,
    );
    expect(source.problem(0)).toMatchObject({ domain: "reversal", verifier: "reversal" });
  });

  test("is known to recipes", async () => {
    const { defineRecipe } = await load<typeof Config>("config");
    const domains = (source: unknown) => ({ reversal: { weight: 1, source } });
    const recipe = { ...minimal(), domains: domains({ kind: "backwards", path: "x", maxLetters: 9 }) };
    expect(defineRecipe(recipe as Parameters<typeof defineRecipe>[0]).domains["reversal"]!.source).toEqual({
      kind: "backwards",
      path: "x",
      maxLetters: 9,
    });
    const wrong = { ...minimal(), domains: domains({ kind: "backwards", path: "x", maxLetter: 9 }) };
    expect(() => defineRecipe(wrong as Parameters<typeof defineRecipe>[0])).toThrow(/maxLetters/);
  });

  test("reads its cases", async () => {
    const { verifier, completion, reference } = await (await loadCaseReader("reversal"))!(
      { word: "abc", response: "<think></think>cba<eos>" },
      ".",
    );
    expect(await verifier.verify(completion, verifier.parseReference(reference))).toMatchObject({ score: 1 });
  });

  test.runIf(longest)(
    "has types that fit",
    () => {
      const config = {
        extends: join(root, "tsconfig.json"),
        compilerOptions: { noEmit: true, rootDir: folder },
      };
      writeFileSync(join(folder, "tsconfig.json"), JSON.stringify({ ...config, include: ["lib"] }));
      execFileSync(process.execPath, [join(root, "node_modules/typescript/bin/tsc"), "-p", folder]);
    },
    300_000,
  );
});
