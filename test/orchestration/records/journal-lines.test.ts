import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createRun } from "../../../lib/orchestration/index.ts";
import {
  type JournalLine,
  type TakenGroup,
  takenGroup,
} from "../../../lib/orchestration/records/journal-lines.ts";
import type { RolloutGroup } from "../../../lib/records.ts";
import { inlineVerifiers } from "../inline-verifiers.ts";
import { smallRecipe } from "../small-recipe.ts";
import { standInCore } from "../stand-in-core.ts";
import { wholeJournal } from "../whole-journal.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "hone-taken-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const linesOf = () =>
  readFileSync(join(dir, "verdicts.jsonl"), "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as JournalLine);
const takenOf = (lines: readonly JournalLine[]) =>
  lines.filter((line): line is TakenGroup => "members" in line);

/** Loses one verdict in seven. */
let judged = 0;
const forgetful = {
  ...inlineVerifiers,
  verify: async (group: Parameters<typeof inlineVerifiers.verify>[0]) =>
    (await inlineVerifiers.verify(group)).map((verdict) =>
      ++judged % 7 === 0 ? ({ status: "unscored", cause: "worker lost" } as const) : verdict,
    ),
};

test("every group that a step took stands in the journal as the run's listeners heard of it", async () => {
  const heard: {
    readonly group: RolloutGroup;
    readonly at: { readonly id: number; readonly step: number };
  }[] = [];
  const hooks = { onGroup: (group: RolloutGroup) => (group.problem.domain === "code" ? "drop" : undefined) };
  const short = {
    rollouts: { groupSize: 4, maxOutputTokens: 12, maxPromptTokens: 64 },
    lengthPenalty: { kind: "dap", bufferTokens: 10 },
    advantages: { overlong: "mask", filter: "reward" },
  } as const;
  await using run = await createRun(smallRecipe({}, short), {
    verifiers: forgetful,
    dir,
    core: standInCore(),
    hooks: hooks as never,
  });
  run.on("group", (group, at) => heard.push({ group, at }));
  await run.finished;
  const taken = takenOf(linesOf());
  expect(taken.map(({ step, group }) => [step, group])).toEqual(heard.map(({ at }) => [at.step, at.id]));
  const texts = new Map((await wholeJournal(join(dir, "verdicts.jsonl"))).map((one) => [one.key, one]));
  for (const [i, { group }] of heard.entries()) {
    const line = taken[i]!;
    expect(line.submittedVersion).toBe(group.submittedVersion);
    expect(line.dropped).toBe(group.dropped);
    expect(line.members).toHaveLength(4);
    const scored = line.members.filter(({ status }) => status !== "unscored");
    expect(
      scored.map(({ completion, versions, ...rest }) => ({ ...rest, text: texts.get(completion)!.text })),
    ).toEqual(
      group.rollouts.map(({ rollout, verdict, masked, ...numbers }) => ({
        ...numbers,
        attempt: rollout.attempt,
        tokens: rollout.tokens.length,
        status: verdict.status,
        score: verdict.score,
        text: rollout.text,
        ...(masked && { masked: true }),
      })),
    );
    expect(texts.get(line.members[0]!.completion)!.problem).toMatchObject({
      id: group.problem.id,
      prompt: `<bos>${group.problem.question}`,
    });
  }
  const members = taken.flatMap((line) => line.members);
  expect(members.some(({ status }) => status === "unscored")).toBe(true);
  expect(members.some(({ masked }) => masked)).toBe(true);
  expect(taken.some(({ dropped }) => dropped === "hook")).toBe(true);
});

test("a run that goes on says after which step, so that what it takes anew counts once", async () => {
  const sit = async (steps: number, resume: string) => {
    await using run = await createRun(smallRecipe({ steps }), {
      verifiers: inlineVerifiers,
      dir,
      core: standInCore(),
      resume,
    });
    await run.finished;
  };
  await sit(6, "never");
  const whole = takenOf(linesOf());
  await sit(6, join(dir, "checkpoints", "step-000004"));
  const lines = linesOf();
  expect(lines.filter((line) => "sitting" in line)).toEqual([{ sitting: 4 }]);
  const mark = lines.findIndex((line) => "sitting" in line);
  expect(takenOf(lines.slice(0, mark)).map(({ step }) => step)).toEqual(whole.map(({ step }) => step));
  expect(new Set(takenOf(lines.slice(mark)).map(({ step }) => step))).toEqual(new Set([5, 6]));
});

test("a group whose attempts were all aborted took nothing", () => {
  const settled = { request: { group: 1 }, group: { rollouts: [] }, rollouts: [], unscored: [] };
  expect(takenGroup(settled as never, 1, () => ({ of: "", completion: "" }))).toBeUndefined();
});
