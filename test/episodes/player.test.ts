import { expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../lib/domains/index.ts";
import { type Partner, playEpisode, turnBudget } from "../../lib/episodes/index.ts";
import type { GenerationRequest } from "../../lib/native/face.ts";
import { Generations } from "../../lib/native/generations.ts";
import type { FinishReason } from "../../lib/records.ts";
import { LexiconTokenizer, plainFormat } from "../../lib/text/index.ts";
import { StandInEngine } from "../orchestration/stand-in-core.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);
const LIMITS = {
  maxRunning: 4,
  pageTokens: 16,
  pages: 64,
  maxContext: 256,
  stepTokens: 64,
  weightStorage: "f32",
  runSeed: 1n,
} as const;
const PROMPT = Int32Array.of(1, 40, 41);

/** Plays with an engine whose turns have `length` tokens; `said` lists the environment's answer to each turn. */
async function play(
  said: (Int32Array | { over: FinishReason | undefined })[],
  {
    maxTurns = 9,
    maxTurnTokens,
    maxTokens = 100,
    length = 5,
    routed = false,
  }: {
    maxTurns?: number;
    maxTurnTokens?: number;
    maxTokens?: number;
    length?: number;
    /** Each turn has a byte of routes a row: its number, for the whole sequence until there. */
    routed?: boolean;
  } = {},
) {
  const requests: GenerationRequest[] = [];
  const generations = new Generations(
    (handlers) => new StandInEngine(LIMITS, handlers, { length: () => length }),
  );
  const engine = generations.engine as StandInEngine;
  engine.take(3, 77);
  const submit = generations.submit.bind(generations);
  generations.submit = (request, sink) => {
    requests.push(request);
    submit(request, sink);
    if (requests.length === 2) engine.take(4, 78);
  };
  const generate = generations.generate.bind(generations);
  generations.generate = async (asked, signal) => {
    const completions = await generate(asked, signal);
    const bytes = (n: number) => new Uint8Array(asked.prompt.length - 1 + n).fill(requests.length);
    return completions.map((c) => ({
      ...c,
      ...(routed && { routes: { width: 1, bytes: bytes(c.tokens.length) } }),
    }));
  };
  const limits = { maxTurns, ...(maxTurnTokens !== undefined && { maxTurnTokens }) };
  const request = {
    id: 0,
    prompt: PROMPT,
    count: 1,
    problem: 7,
    firstAttempt: 2,
    sampling: { temperature: 1 },
    maxTokens,
    stopIds: format.stopIds,
  };
  const [first] = await generations.generate({ ...request, maxTokens: turnBudget(limits, maxTokens) });
  const asked: { turn: number; tokens: number[] }[] = [];
  let ended: [FinishReason, number] | undefined;
  const partner: Partner = {
    toolCalls: 1,
    answer: async ({ turn, tokens }) => {
      asked.push({ turn, tokens: [...tokens] });
      const next = said[turn] ?? { over: undefined };
      return next instanceof Int32Array ? { given: next } : next;
    },
    verdict: async (finish, turns) => {
      ended = [finish, turns];
      return { status: "correct", score: 1, reason: "" };
    },
  };
  const played = await playEpisode(first!, { request, maxTokens, attempt: 2, partner }, limits, {
    generations,
    format,
  });
  return { ...played, asked, ended, requests };
}

const OBSERVED = Int32Array.of(50, 51);

test("each turn is asked for with the very ids that came before; the whole is one completion with its masks", async () => {
  const { completion, episode, asked, requests, text } = await play([
    OBSERVED,
    OBSERVED,
    { over: undefined },
  ]);
  const [a, b, c] = asked.map(({ tokens }) => tokens);
  expect(asked.map(({ turn }) => turn)).toEqual([0, 1, 2]);
  expect([...completion.tokens]).toEqual([...a!, ...OBSERVED, ...b!, ...OBSERVED, ...c!]);
  expect([...requests[2]!.prompt]).toEqual([...PROMPT, ...a!, ...OBSERVED, ...b!, ...OBSERVED]);
  expect(requests.slice(1).map(({ count, firstAttempt, problem }) => [count, firstAttempt, problem])).toEqual(
    [
      [1, 2, 7],
      [1, 2, 7],
    ],
  );
  expect(new Set(requests.map(({ id }) => id)).size).toBe(3);
  const given = [...a!.map(() => 0), 1, 1, ...b!.map(() => 0), 1, 1, ...c!.map(() => 0)];
  expect([...episode.given]).toEqual(given);
  expect(episode).toMatchObject({ turns: 3, toolCalls: 1, verdict: { status: "correct" } });
  for (const [t, isGiven] of given.entries()) {
    if (isGiven === 0) {
      expect(completion.logprobs[t]).toBeLessThan(0);
      continue;
    }
    expect([completion.logprobs[t], completion.entropies[t]]).toEqual([0, 0]);
    expect(completion.versions[t]).toBe(completion.versions[t + 1]);
  }
  expect(completion.versions[0]).toBe(3);
  expect(completion.versions.at(-1)).toBe(4);
  for (let i = 0; i < episode.givenText.length; i += 2)
    expect(text.slice(episode.givenText[i], episode.givenText[i + 1])).toBe(tokenizer.decode(OBSERVED));
  expect(episode.givenText).toHaveLength(4);
});

test("a row keeps the routes of the turn that computed it first; there are none where turns have none", async () => {
  const { completion } = await play([OBSERVED, { over: undefined }], { routed: true });
  const first = PROMPT.length - 1 + 5;
  const rows = [...new Array(first).fill(1), ...new Array(1 + 2 + 5 - 1).fill(2)]; // after the last token of the first turn
  expect(completion.tokens).toHaveLength(12);
  expect([...completion.routes!.bytes]).toEqual(rows);
  expect((await play([OBSERVED])).completion.routes).toBeUndefined();
});

test("the limit of turns ends it after the environment has read the last message", async () => {
  const { ended, asked, completion } = await play([OBSERVED, OBSERVED, OBSERVED], { maxTurns: 2 });
  expect(asked).toHaveLength(2);
  expect(ended).toEqual(["turns", 2]);
  expect(completion.finish).toBe("turns");
});

test("the limit of tokens counts observations, and the last token is always sampled", async () => {
  const cut = await play([OBSERVED, OBSERVED], { maxTokens: 9, length: 5 });
  expect(cut.completion.tokens).toHaveLength(9);
  expect(cut.completion.finish).toBe("length");
  expect(cut.asked).toHaveLength(1); // the cut message is not shown to the environment
  const huge = await play([new Int32Array(500).fill(50)], { maxTokens: 20 });
  expect(huge.completion.finish).toBe("length");
  expect(huge.completion.tokens.length).toBe(huge.asked[0]!.tokens.length);
  expect(huge.episode.given.includes(1)).toBe(false);
  const exact = await play([new Int32Array(15).fill(50)], { maxTokens: 20, length: 5 });
  expect(exact.completion.finish).toBe("length");
});

test("a message that its own limit cuts is a message like any other", async () => {
  const { asked, ended } = await play([OBSERVED, { over: undefined }], { maxTurnTokens: 2, length: 5 });
  expect(asked.map(({ tokens }) => tokens.length)).toEqual([2, 2]);
  expect(ended).toEqual(["stop", 2]);
});
