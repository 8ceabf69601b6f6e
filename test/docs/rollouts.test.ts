import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  createRun,
  decodeIds,
  decodeLogprobs,
  type RecordedGroup,
  readRolloutRecord,
} from "../../lib/orchestration/index.ts";
import { inlineVerifiers as verifiers } from "../orchestration/inline-verifiers.ts";
import { smallRecipe } from "../orchestration/small-recipe.ts";
import { standInCore } from "../orchestration/stand-in-core.ts";

const page = readFileSync(new URL("../../docs/reference/rollouts.md", import.meta.url), "utf8");
const script = /```python\n([\s\S]*?)```/.exec(page)![1]!;
const noPython = spawnSync("python3", ["--version"]).status !== 0;

let dir: string;
beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "hone-rollouts-page-"));
  const rollouts = { groupSize: 4, maxOutputTokens: 24, maxPromptTokens: 64, record: true };
  await using run = await createRun(smallRecipe({ steps: 2 }, { rollouts }), {
    dir,
    verifiers,
    core: standInCore(),
  });
  await run.finished;
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

test("the script on the page has twenty lines", () => {
  expect(
    script
      .trim()
      .split("\n")
      .filter((line) => line !== "").length,
  ).toBeLessThanOrEqual(20);
});

test.skipIf(noPython)("it reads from the record what hone reads from it", async () => {
  writeFileSync(join(dir, "read.py"), script);
  const file = join(dir, "rollouts", "step-000002.jsonl");
  const { stdout, stderr } = spawnSync("python3", [join(dir, "read.py"), file], { encoding: "utf8" });
  expect(stderr).toBe("");
  const said = stdout.trim().split("\n");
  const groups: RecordedGroup[] = [];
  for await (const line of readRolloutRecord(dir, 2)) if ("rollouts" in line) groups.push(line);
  expect(said[0]).toBe(`step 2 from version 1 groups ${groups.length}`);
  let at = 1;
  for (const { group, domain, prompt, rollouts } of groups) {
    expect(said[at++]).toContain(`group ${group} ${domain} prompt ${decodeIds(prompt).length} reward `);
    for (const { attempt, verdict, tokens, logprobs, advantage } of rollouts) {
      const n = decodeIds(tokens).length;
      const nll = -decodeLogprobs(logprobs).reduce((sum, x) => sum + x, 0) / n;
      const found = new RegExp(
        `^  ${attempt} ${verdict.status} ${n} tokens, nll (\\S+) advantage (\\S+)$`,
      ).exec(said[at++]!)!;
      expect(Number(found[1])).toBeCloseTo(nll, 5);
      expect(Number(found[2])).toBeCloseTo(advantage!, 5);
    }
  }
  expect(said).toHaveLength(at);
});
