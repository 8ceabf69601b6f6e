import { expect, test } from "vitest";
import { systemClock } from "../../../lib/clock.ts";
import { type Environment, QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { Generations } from "../../../lib/native/generations.ts";
import { type GroupRollouts, submitGroup } from "../../../lib/orchestration/pipeline/actor.ts";
import { liveEpisodes } from "../../../lib/orchestration/pipeline/episode-stage.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";
import { requestOf } from "../pipeline-accounting.ts";
import { StandInEngine } from "../stand-in-core.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const format = plainFormat(tokenizer);
const LIMITS = {
  maxRunning: 4,
  pageTokens: 16,
  pages: 64,
  maxContext: 64,
  stepTokens: 64,
  weightStorage: "f32",
  runSeed: 1n,
} as const;

function groupOf(domain: string, environment: Environment): Promise<GroupRollouts> {
  const generations = new Generations((handlers) => new StandInEngine(LIMITS, handlers, { length: () => 4 }));
  (generations.engine as StandInEngine).take(5, 77);
  const play = { environment, maxTurns: 3, timeoutMs: 1000 };
  const episodes = liveEpisodes(new Map([["mine", play]]), format, new AbortController().signal);
  const options = {
    sampling: { temperature: 1 },
    maxOutputTokens: 30,
    stopStrings: [],
    format,
    clock: systemClock,
    episodes,
  };
  const request = requestOf(0, 0, { domain });
  const prompt = { problem: request.problem, tokens: Int32Array.of(1, 40) };
  return new Promise((deliver, fail) =>
    submitGroup({ request, prompt }, generations, options, { deliver, fail }),
  );
}

const counting: Environment<{ n: number }> = {
  reset: () => ({ n: 0 }),
  step: (state) => ({ observation: String(++state.n) }),
  score: ({ n }) => n / 10,
};

test("the attempts of a domain with an environment are played, each with a state of its own", async () => {
  const { rollouts } = await groupOf("mine", counting as Environment);
  expect(rollouts.map(({ attempt }) => attempt)).toEqual([0, 1, 2, 3]);
  for (const { episode, finish, tokens, text } of rollouts) {
    expect(finish).toBe("turns");
    expect(episode).toMatchObject({ turns: 3, verdict: { status: "partial", score: 0.3 } });
    expect(tokens).toHaveLength(14);
    const { givenText } = episode!;
    expect([text.slice(givenText[0], givenText[1]), text.slice(givenText[2], givenText[3])]).toEqual([
      "1",
      "2",
    ]);
  }
  expect(new Set(rollouts.map(({ tokens }) => tokens.join())).size).toBe(4);
});

test("other domains are sampled once, as ever", async () => {
  const { rollouts } = await groupOf("math", counting as Environment);
  for (const rollout of rollouts) expect(rollout).not.toHaveProperty("episode");
});
