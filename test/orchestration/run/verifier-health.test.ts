import { expect, test } from "vitest";
import { failAfterRepeatedErrors } from "../../../lib/orchestration/run/verifier-health.ts";
import type { Verdict } from "../../../lib/records.ts";
import { problemOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";

// Deliberate faults (mutants) that these tests detect: a verdict does not reset the count, all verifiers share one
// count, every failure warns.

const down: Verdict = { status: "unscored", cause: "worker lost: boom" };
const up: Verdict = { status: "wrong", score: 0, reason: "" };
/** P 4, G 4: a warning after 16 completions, an error after 48. */
function watched() {
  const warnings: string[] = [];
  let answer = down;
  const verifiers = failAfterRepeatedErrors(
    {
      verify: async (requests) => requests.map(({ text }) => (text === "up" ? up : answer)),
      stats: () => ({}),
    },
    smallRecipe(),
    (message) => warnings.push(message),
  );
  const ask = (n: number, text = "", verifier = "v") => {
    const request = { problem: { ...problemOf("math"), verifier }, text, finish: "eos" as const };
    return verifiers.verify(new Array(n).fill(request));
  };
  return { ask, warnings, answer: (verdict: Verdict) => (answer = verdict) };
}

test("a verifier without verdicts is told once, and ends the run three steps' worth later with its last cause", async () => {
  const { ask, warnings } = watched();
  expect(await ask(15)).toEqual(new Array(15).fill(down));
  expect(warnings).toEqual([]);
  await ask(32);
  expect(warnings).toEqual(["verifier v: no verdict on the last 16 completions: worker lost: boom"]);
  await expect(ask(1)).rejects.toMatchObject({
    code: "HONE_ERR_VERIFIER",
    message: "verifier v has given no verdict on the last 48 completions; the last time: worker lost: boom",
    details: { verifier: "v", completions: 48, cause: "worker lost: boom" },
  });
});

test("one verdict starts the count anew, and verifiers are counted apart", async () => {
  const { ask, warnings } = watched();
  for (let i = 0; i < 5; i++) {
    await ask(15);
    await ask(15, "", "other");
    await ask(1, "up");
    await ask(1, "up", "other");
  }
  expect(warnings).toEqual([]);
  await ask(20);
  await ask(1, "up");
  await ask(20);
  expect(warnings).toHaveLength(2);
});

test("completions without an answer are seen without the verifier, and neither count nor start anew", async () => {
  const { ask, answer } = watched();
  await ask(47);
  answer({ status: "no_answer", score: 0, reason: "cut" });
  await ask(100);
  answer(down);
  await expect(ask(1)).rejects.toMatchObject({ details: { completions: 48 } });
});
