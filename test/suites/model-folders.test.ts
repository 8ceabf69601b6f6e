import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { evaluateSuites } from "../../lib/suites/evaluate.ts";
import { modelFolders, pooledSuites, poolSuite, readModel } from "../../lib/suites/model-folders.ts";
import { judgeHere, right, said, scratchFolder, scripted, sums } from "./scripted.ts";

async function evaluated(model: string, count = 4, identity: Record<string, unknown> = {}): Promise<string> {
  const dir = scratchFolder();
  const answerer = scripted((problem) => (model === "right" ? right(problem) : said("\\boxed{-1}")), {
    identity: { weights: model, temperature: 0.6, ...identity },
  });
  await evaluateSuites(answerer, [sums(count)], { dir, model, seeds: [0, 1], verifiers: judgeHere });
  return dir;
}

test("a folder, several, and several under a name", async () => {
  const [one, two] = [await evaluated("right"), await evaluated("wrong")];
  expect(modelFolders(one)).toEqual({ name: "right", dirs: [one] });
  expect(modelFolders(`${one},${two}`)).toEqual({ name: "right and 1 more", dirs: [one, two] });
  expect(modelFolders(`ours=${one},${two}`)).toEqual({ name: "ours", dirs: [one, two] });
  expect(modelFolders(`x=${one}`)).toEqual({ name: "x", dirs: [one] });
});

test("a folder that is none, and one that stands twice, are refused", async () => {
  const one = await evaluated("right");
  expect(() => modelFolders(`ours=${one},${join(one, "nope")}`)).toThrow(
    `${join(one, "nope")} is not an evaluation folder`,
  );
  expect(() => modelFolders(`ours=${one},${one}`)).toThrow("appears twice");
  expect(() => modelFolders(`ours=${one},`)).toThrow("is not an evaluation folder");
});

test("folders that were sampled differently are no sample of one accuracy", async () => {
  const [one, two] = [await evaluated("right"), await evaluated("wrong", 4, { temperature: 1 })];
  expect(() => readModel(`${one},${two}`)).toThrow(/cannot be pooled: temperature is 0\.6 .* and 1 in/);
});

test("seeds of two folders stay apart, and problems that one folder lacks are in no number", async () => {
  const model = readModel(`ours=${await evaluated("right", 6)},${await evaluated("wrong", 4)}`);
  expect(pooledSuites(model)).toEqual(["sums"]);
  const { problems, partial } = poolSuite(model, "sums");
  expect([problems.length, partial]).toEqual([4, 2]);
  for (const { problem } of problems) {
    expect(new Set(problem.answers.map(({ seed }) => seed)).size).toBe(4);
    expect(problem.answers.map(({ correct }) => correct)).toEqual([true, true, false, false]);
  }
});

test("the folder of a run is refused with the command that compares runs", () => {
  const dir = mkdtempSync(join(tmpdir(), "hone-run-"));
  writeFileSync(join(dir, "run.json"), "{}");
  expect(() => modelFolders(dir)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_USAGE",
      message: `${dir} is the folder of a run, not of an evaluation`,
      hint: expect.stringContaining("hone diff <a> <b>"),
    }),
  );
  rmSync(dir, { recursive: true });
});
