import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import {
  ConfigError,
  createRun,
  evaluate,
  evaluatePolicy,
  explainStep,
  lookAtTraces,
  type Recipe,
  writeReport,
} from "../lib/index.ts";

const emptyFolder = () => {
  const folder = mkdtempSync(join(tmpdir(), "hone-index-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
/** A value that JavaScript can pass, since it checks no types. */
const notARecipe = {} as Recipe;

test("functions that are loaded at their first call refuse a wrong input with their module's own error", async () => {
  const dir = emptyFolder();
  const none = join(dir, "none");
  await expect(createRun(notARecipe, { dir })).rejects.toThrow(ConfigError);
  const model = evaluate({ model: none, out: dir, suites: [] } as never);
  await expect(model).rejects.toThrow(`there is no folder ${none}`);
  await expect(explainStep(none, { step: 1 } as never)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
  await expect(lookAtTraces([none], {} as never)).rejects.toMatchObject({ code: "HONE_ERR_USAGE" });
  await expect(writeReport(none)).rejects.toMatchObject({ code: "HONE_ERR_IO" });
});

test("a policy without held-out problems is asked nothing", async () => {
  const recipe = { rollouts: { maxOutputTokens: 8, maxPromptTokens: 8, stopStrings: [] } };
  const policy = { recipe, sources: new Map(), sets: new Map(), generations: { abandon: () => {} } } as never;
  const plan = { problemsPerDomain: 4, attempts: 1, temperature: 1, topP: 1 };
  await expect(evaluatePolicy(policy, plan)).resolves.toEqual([]);
  await expect(evaluatePolicy(policy, { ...plan, signal: AbortSignal.abort("stop") })).rejects.toBe("stop");
});
