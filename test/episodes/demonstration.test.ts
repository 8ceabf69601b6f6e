import { expect, test } from "vitest";
import {
  ENVIRONMENTS,
  type Environment,
  EPISODE_SOURCES,
  QUICKSTART_LEXICON,
} from "../../lib/domains/index.ts";
import { EpisodeDemonstrator, type Play } from "../../lib/episodes/index.ts";
import { CounterRandom } from "../../lib/random.ts";
import type { Problem } from "../../lib/records.ts";
import { LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { problemOf } from "../orchestration/pipeline-accounting.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);
const encode = (text: string) => tokenizer.encode(text);
const closing = new AbortController().signal;

interface Rules extends Partial<Omit<Play, "environment">> {
  readonly wrongRate?: number;
  readonly maxTokens?: number;
}

const demonstratorOf = (environment: Environment, { wrongRate = 0, maxTokens = 64, ...rules }: Rules = {}) =>
  new EpisodeDemonstrator({
    play: { environment, maxTurns: 8, timeoutMs: 60_000, ...rules },
    format,
    encode,
    maxTokens,
    wrongRate,
    closing,
  });

/** Draws the index-th problem of a built-in environment, with the levels in turns. */
function drawn(name: string, index: number): Problem {
  const [family] = EPISODE_SOURCES[`procedural/${name}`]!;
  const { question, reference } = family!.draw(new CounterRandom(7, index), index % 4);
  return { ...problemOf(name, index), question, reference, level: index % 4 };
}

/** Records the scores that the environment returns. */
function scored(environment: Environment, scores: unknown[]): Environment {
  return {
    ...environment,
    score: async (...about) => {
      const score = await environment.score(...about);
      scores.push(score);
      return score;
    },
  };
}

/** The policy's text, with the environment's text in brackets. */
function conversation({ tokens, given }: { tokens: Int32Array; given: Uint8Array }): string {
  expect(given).toHaveLength(tokens.length);
  return [...tokens]
    .map((id, t) => (given[t] ? `[${tokenizer.decode([id])}]` : tokenizer.decode([id])))
    .join("")
    .replaceAll("][", "");
}

test.each([
  ["calculator", { maxTurns: 2 }],
  ["word-guess", { maxTurns: 7, maxTurnTokens: 1 }],
])("the expert of %s solves every problem", async (name, rules) => {
  const scores: unknown[] = [];
  const demonstrator = demonstratorOf(scored(ENVIRONMENTS[name]!, scores), rules);
  for (let i = 0; i < 200; i++) await demonstrator.demonstration(drawn(name, i), new CounterRandom(1, i));
  expect(scores).toEqual(Array(200).fill(1));
});

test("what the environment said is marked token by token, in the place where a policy reads it", async () => {
  const calculator = await demonstratorOf(ENVIRONMENTS["calculator"]!).demonstration(
    { ...problemOf("calculator", 0), reference: { expression: "34*57", value: "1938" } },
    new CounterRandom(1, 1),
  );
  expect(conversation(calculator)).toBe("Compute(34*57)<eos>[1938\n]1938<eos>");
  const reference = { words: ["cat", "hat", "map"], secret: "map" };
  const guesses = demonstratorOf(ENVIRONMENTS["word-guess"]!, { maxTurnTokens: 1 });
  const problem = { ...problemOf("word-guess", 0), reference };
  const played = await Promise.all(
    Array.from({ length: 30 }, (_, i) => guesses.demonstration(problem, new CounterRandom(1, i))),
  );
  // after the feedback to "cat" or "hat" only "map" fits
  expect([...new Set(played.map(conversation))].sort()).toEqual([
    "cat[<eos>_a_ ]map",
    "hat[<eos>_a_ ]map",
    "map",
  ]);
});

test("with one turn the calculator's expert answers without a call", async () => {
  const problem = { ...problemOf("calculator", 0), reference: { expression: "34*57", value: "1938" } };
  const demonstrator = demonstratorOf(ENVIRONMENTS["calculator"]!, { maxTurns: 1 });
  expect(conversation(await demonstrator.demonstration(problem, new CounterRandom(1, 1)))).toBe("1938<eos>");
});

test("careless messages come in their share, and a demonstration is a function of problem and draw", async () => {
  const asked: boolean[] = [];
  const environment: Environment = {
    reset: () => ({}),
    step: () => ({ observation: " " }),
    score: () => 0,
    expert: (_, { careless, random, turn, messages, observations }) => {
      asked.push(careless);
      expect([messages.length, observations.length]).toEqual([turn, turn]);
      return String(random.int(0, 9));
    },
  };
  const demonstrator = demonstratorOf(environment, { wrongRate: 0.3, maxTurns: 4 });
  const play = (i: number) => demonstrator.demonstration(problemOf("mine", 0), new CounterRandom(1, i));
  for (let i = 0; i < 500; i++) await play(i);
  const share = asked.filter((careless) => careless).length / asked.length;
  expect(asked).toHaveLength(2000);
  expect(Math.abs(share - 0.3)).toBeLessThan(4 * Math.sqrt((0.3 * 0.7) / 2000));
  expect(await play(3)).toEqual(await play(3));
  expect((await play(3)).tokens).not.toEqual((await play(4)).tokens);
});

test("what cannot be shown is refused: too long, an environment or an expert that fails", async () => {
  const mine: Environment = {
    reset: () => ({}),
    step: (_, { turn }) => (turn === 2 ? { done: true } : { observation: " " }),
    score: () => 1,
    expert: () => "cat dog",
  };
  const show = (change: Partial<Environment>, rules: Rules = {}) =>
    demonstratorOf({ ...mine, ...change }, rules).demonstration(problemOf("mine", 0), new CounterRandom(1));
  expect(conversation(await show({}, { maxTokens: 14 }))).toBe("cat dog<eos>[ ]cat dog<eos>[ ]cat dog<eos>");
  await expect(show({}, { maxTokens: 13 })).rejects.toMatchObject({
    code: "HONE_ERR_CONFIG",
    message: expect.stringContaining("maxOutputTokens, 13"),
  });
  const down = () => {
    throw new Error("down");
  };
  for (const change of [
    { step: down },
    { score: down },
    { expert: down },
    { expert: () => undefined as never },
  ])
    await expect(show(change)).rejects.toMatchObject({ code: "HONE_ERR_VERIFIER" });
});
