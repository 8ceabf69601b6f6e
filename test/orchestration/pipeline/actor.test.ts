import { expect, test } from "vitest";
import { systemClock } from "../../../lib/clock.ts";
import { QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { Generations } from "../../../lib/native/generations.ts";
import { type ActorOptions, generateRollouts } from "../../../lib/orchestration/pipeline/actor.ts";
import { encodePrompts } from "../../../lib/orchestration/pipeline/requested-prompts.ts";
import { PromptEncoder } from "../../../lib/orchestration/setup/prompts.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";
import { requestOf } from "../pipeline-accounting.ts";
import { StandInEngine, type StandInOptions } from "../stand-in-core.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const LIMITS = {
  maxRunning: 4,
  pageTokens: 16,
  pages: 64,
  maxContext: 64,
  stepTokens: 64,
  weightStorage: "f32",
  runSeed: 1n,
} as const;
const OPTIONS: ActorOptions = {
  sampling: { temperature: 1 },
  maxOutputTokens: 12,
  stopStrings: [],
  format: plainFormat(tokenizer),
  clock: systemClock,
};

function bench(groups: number, options: StandInOptions = {}) {
  const generations = new Generations((handlers) => new StandInEngine(LIMITS, handlers, options));
  (generations.engine as StandInEngine).take(5, 77);
  const requests = (async function* () {
    for (let group = 0; group < groups; group++) yield requestOf(group, 0);
  })();
  return {
    generations,
    rollouts: generateRollouts(
      encodePrompts(requests, new PromptEncoder(OPTIONS.format, 48)),
      generations,
      OPTIONS,
    ),
  };
}

test("every group comes back whole, attempts in order, text decoded, and then the stage ends", async () => {
  const { rollouts } = bench(3);
  const seen: number[] = [];
  for await (const group of rollouts) {
    seen.push(group.request.group);
    expect(group.rollouts.map((r) => r.attempt)).toEqual([0, 1, 2, 3]);
    for (const r of group.rollouts) {
      expect(r.text).toBe(tokenizer.decode(r.tokens).replace(/<eos>$/, ""));
      expect(r.tokens.length).toBe(r.logprobs.length);
      expect([...r.versions]).toEqual(Array.from(r.tokens, () => 5));
      expect(r.finish).toBe(
        r.tokens.length < 12 || r.tokens.at(-1) === tokenizer.special.eos ? "eos" : "length",
      );
    }
  }
  expect(seen.sort()).toEqual([0, 1, 2]);
});

test("an engine that dies ends the stage with its error", async () => {
  const { rollouts } = bench(2, { failAtEngineStep: 2 });
  await expect(rollouts.next()).rejects.toThrow("engine thread died");
});

test("leaving the stage abandons what is in the engine", async () => {
  const { generations, rollouts } = bench(3);
  await rollouts.next();
  await rollouts.return();
  expect(generations.inFlight).toBe(0);
});
