import { expect, test } from "vitest";
import { type Demonstration, QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import type { StepOptions } from "../../lib/native/face.ts";
import { assembleDemonstrations, warmStart } from "../../lib/orchestration/warm-start.ts";
import { LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { problemOf } from "./lines-books.ts";
import { smallRecipe } from "./small-recipe.ts";
import { StandInTrainer } from "./stand-in-core.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);
const recipe = smallRecipe(
  {},
  {
    rollouts: { maxOutputTokens: 80, maxPromptTokens: 48 },
    warmStart: { steps: 5, batchSize: 3, mixture: { math: 1, logic: 1 }, warmupSteps: 2 },
  },
);
const run = (trainer: StandInTrainer, signal = new AbortController().signal, seen: number[] = []) =>
  warmStart(
    trainer,
    recipe,
    recipe.warmStart!,
    { tokenizer, format },
    { signal, onStep: ({ step }) => seen.push(step) },
  );

test("each step has fresh demonstrations, supervised, both rates on one cosine", async () => {
  const options: StepOptions[] = [];
  const trainer = new StandInTrainer({
    onStep: (_, o) => {
      options.push(o);
      return {};
    },
  });
  const seen: number[] = [];
  await run(trainer, undefined, seen);
  expect(seen).toEqual([1, 2, 3, 4, 5]);
  expect(options.every((o) => o.objective === "supervised")).toBe(true);
  expect(options[0]!.lr).toBeCloseTo(8e-3 / 2, 9);
  for (const { lr, muonLr } of options) expect(muonLr / lr).toBeCloseTo(0.02 / 8e-3, 9);
  expect(new Set(trainer.steps.map(({ tokens }) => tokens.join())).size).toBe(5);
  expect(trainer.steps.every(({ cuSeqlens }) => cuSeqlens.length === 4)).toBe(true);
});

test("the loss counts the response only", () => {
  const tokens = tokenizer.encode("<think></think>4<eos>");
  const demo = {
    problem: problemOf("math"),
    tokens,
    style: "direct",
    correct: true,
  } as unknown as Demonstration;
  const batch = assembleDemonstrations([demo, demo], format, 48);
  expect([...batch.cuSeqlens]).toEqual([0, 6, 12]);
  expect([...batch.mask]).toEqual([0, 0, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1]);
});

test("an abort ends it between two steps with the signal's reason", async () => {
  const controller = new AbortController();
  const trainer = new StandInTrainer({
    onStep: (_, __, step) => {
      if (step === 1) controller.abort(new Error("enough"));
      return {};
    },
  });
  await expect(run(trainer, controller.signal)).rejects.toThrow("enough");
  expect(trainer.steps).toHaveLength(2);
});

test("a loss that is not finite ends it", async () => {
  const trainer = new StandInTrainer({ onStep: () => ({ skipped: true, loss: Number.NaN }) });
  await expect(run(trainer)).rejects.toMatchObject({ code: "HONE_ERR_NON_FINITE" });
});

test("a batch that cannot be written ends it, and the step in flight that fails too leaves no rejection behind", async () => {
  const stray: unknown[] = [];
  const note = (error: unknown) => void stray.push(error);
  process.on("unhandledRejection", note);
  const lost = new Error("lost");
  const trainer = new StandInTrainer({ onStep: () => Promise.reject(lost) });
  const short = smallRecipe({}, { warmStart: { steps: 40, batchSize: 1, mixture: { logic: 1 } } });
  const options = { signal: new AbortController().signal, onStep: () => {} };
  const work = warmStart(trainer, short, short.warmStart!, { tokenizer, format }, options);
  await expect(work).rejects.toSatisfy(
    (e) => e === lost || (e as { code?: string }).code === "HONE_ERR_CONFIG",
  );
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off("unhandledRejection", note);
  expect(stray).toEqual([]);
});
