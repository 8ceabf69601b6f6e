import { expect, test } from "vitest";
import { type Demonstration, QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import type { StepOptions } from "../../../lib/native/face.ts";
import { assembleDemonstrations, warmStart } from "../../../lib/orchestration/run/warm-start.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";
import { problemOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";
import { StandInTrainer } from "../stand-in-core.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);
const recipe = smallRecipe(
  {},
  {
    rollouts: { maxOutputTokens: 80, maxPromptTokens: 48 },
    warmStart: { steps: 5, batchSize: 3, mixture: { math: 1, logic: 1 }, warmupSteps: 2 },
  },
);
const resources = { model: { tokenizer, format }, sources: new Map(), plays: new Map() };
const run = (trainer: StandInTrainer, signal = new AbortController().signal, seen: number[] = []) =>
  warmStart(trainer, recipe, recipe.warmStart!, resources, { signal, onStep: ({ step }) => seen.push(step) });

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

test("of an episode the loss counts what the expert wrote", async () => {
  const given = Uint8Array.of(0, 1, 1, 0);
  const shown = { problem: problemOf("math"), tokens: tokenizer.encode("cat  dog"), given };
  const { mask, cuSeqlens } = assembleDemonstrations([shown, shown], format, 48);
  expect([...cuSeqlens]).toEqual([0, 6, 12]);
  expect([...mask]).toEqual([0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1]);
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

// Deliberate faults (mutants) that these tests detect: the step in flight has no handler; the next batch is written
// after the step instead of during it.
test("a batch that cannot be written ends it, and the step in flight that fails too leaves no rejection behind", async () => {
  const stray: unknown[] = [];
  const note = (error: unknown) => void stray.push(error);
  process.on("unhandledRejection", note);
  let steps = 0; // the first step works; then writing a batch during the second fails, and the second step fails too
  const trainer = new StandInTrainer({
    onStep: async () => {
      steps += 1;
      await new Promise((resolve) => setTimeout(resolve, 10));
      if (steps > 1) throw new Error("the second step");
      return {};
    },
  });
  const failing = {
    nameOf: (id: number) => tokenizer.nameOf(id),
    encode: (text: string) => {
      if (steps > 0) throw new Error("the third batch");
      return tokenizer.encode(text);
    },
  } as LexiconTokenizer;
  const options = { signal: new AbortController().signal, onStep: () => {} };
  const work = warmStart(
    trainer,
    recipe,
    recipe.warmStart!,
    { ...resources, model: { tokenizer: failing, format } },
    options,
  );
  await expect(work).rejects.toThrow("the third batch");
  await new Promise((resolve) => setTimeout(resolve, 50));
  process.off("unhandledRejection", note);
  expect({ stray, steps }).toEqual({ stray: [], steps: 2 });
});
