import { describe, expect, test } from "vitest";
import { type Environment, QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { EnvironmentPartner } from "../../lib/episodes/index.ts";
import { LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { problemOf } from "../orchestration/pipeline-accounting.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);
const never = new AbortController().signal;

function partnerOf(environment: Partial<Environment>, closing = never, timeoutMs = 2000) {
  const whole: Environment = {
    reset: () => ({}),
    step: () => ({ observation: "next" }),
    score: () => 1,
    ...environment,
  };
  const problem = { ...problemOf("mine", 3), reference: "r" };
  return new EnvironmentPartner({
    play: { environment: whole, maxTurns: 4, timeoutMs },
    problem,
    format,
    turns: format.turns(),
    closing,
  });
}

const turn = (text: string, number = 0) => {
  const tokens = tokenizer.encode(text);
  return { turn: number, tokens, ended: tokens.at(-1) === tokenizer.special.eos ? tokens.at(-1) : undefined };
};

test("a message comes with its answer and its calls; the state is the episode's own", async () => {
  const seen: unknown[] = [];
  const partner = partnerOf({
    reset: ({ reference, id }) => ({ reference, id, n: 0 }),
    step: (state, message) => {
      (state as { n: number }).n += 1;
      seen.push(message, { ...(state as object) });
      return { observation: "ok" };
    },
    score: (state) => (state as { n: number }).n / 4,
  });
  const reply = await partner.answer(turn("<think>hmm</think>Compute(1+1)<eos>"));
  await partner.answer(turn("cat", 1));
  expect(reply).toEqual({ given: tokenizer.encode("ok") });
  const calls = [{ name: "Compute", arguments: { input: "1+1" } }];
  expect(seen).toEqual([
    { turn: 0, text: "<think>hmm</think>Compute(1+1)", answer: "Compute(1+1)", calls },
    { reference: "r", id: 3, n: 1 },
    { turn: 1, text: "cat", answer: "cat", calls: [] },
    { reference: "r", id: 3, n: 2 },
  ]);
  expect(partner.toolCalls).toBe(1);
  expect(await partner.verdict("eos", 2)).toMatchObject({ status: "partial", score: 0.5 });
});

test("spellings of special tokens in an observation are characters; done ends the episode", async () => {
  const { given } = (await partnerOf({ step: () => ({ observation: "<eos><think>" }) }).answer(
    turn("a<eos>"),
  )) as {
    given: Int32Array;
  };
  expect(tokenizer.decode(given)).toBe("<eos><think>");
  expect([...given].every((id) => id > tokenizer.special.endThink)).toBe(true);
  const over = await partnerOf({ step: () => ({ done: true }) }).answer(turn("a"));
  expect(over).toEqual({ over: undefined });
});

describe("a fault of the environment leaves the episode unscored, with its cause", () => {
  const throws = () => {
    throw new Error("down");
  };
  const faults: [string, Partial<Environment>, string][] = [
    ["reset throws", { reset: throws }, "down"],
    ["step throws", { step: throws }, "down"],
    ["step rejects", { step: () => Promise.reject(new Error("gone")) }, "gone"],
    ["step throws no error", { step: () => Promise.reject(undefined) }, "undefined"],
    ["step never returns", { step: () => new Promise(() => {}) }, "step took over 30 ms"],
    ["step returns nothing", { step: () => undefined as never }, "neither an observation"],
    ["an observation is no text", { step: () => ({ observation: 7 as never }) }, "neither an observation"],
    ["an observation is empty", { step: () => ({ observation: "" }) }, "empty observation"],
    ["half a character, which this vocabulary lacks", { step: () => ({ observation: "\ud800" }) }, "U+FFFD"],
    ["score throws", { step: () => ({ done: true }), score: throws }, "down"],
    [
      "score never returns",
      { step: () => ({ done: true }), score: () => new Promise(() => {}) },
      "score took over",
    ],
    ["score is a text", { step: () => ({ done: true }), score: () => "1" as never }, "neither a number"],
    ["score is no number", { step: () => ({ done: true }), score: () => Number.NaN }, "not a finite number"],
  ];
  test.each(faults)("%s", async (_, environment, cause) => {
    const partner = partnerOf(environment, never, 30);
    const reply = await partner.answer(turn("a"));
    const verdict = await partner.verdict("eos", 1);
    expect(verdict).toMatchObject({ status: "unscored", cause: expect.stringContaining(cause) });
    if (!("score" in environment)) expect(reply).toEqual({ over: undefined });
  });

  test("a run that ends does not wait for it, and its signal says so", async () => {
    const closing = new AbortController();
    let signal: AbortSignal | undefined;
    const partner = partnerOf(
      {
        step: (_, __, call) => {
          signal = call.signal;
          return new Promise(() => {});
        },
      },
      closing.signal,
    );
    const reply = partner.answer(turn("a"));
    await new Promise((resolve) => setImmediate(resolve));
    closing.abort();
    expect(await reply).toEqual({ over: undefined });
    expect(signal?.aborted).toBe(true);
    expect(await partner.verdict("stop", 1)).toMatchObject({ status: "unscored" });
  });
});
