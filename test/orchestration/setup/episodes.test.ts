import { expect, test } from "vitest";
import { defineRecipe } from "../../../lib/config/index.ts";
import type { Environment } from "../../../lib/domains/index.ts";
import { besideEpisodes, expectEnvironments, playsOf } from "../../../lib/orchestration/setup/episodes.ts";
import type { Verdict } from "../../../lib/records.ts";
import { rolloutOf } from "../pipeline-accounting.ts";
import { smallRecipe } from "../small-recipe.ts";

const mine: Environment = {
  tools: [{ type: "function", function: { name: "look" } }],
  reset: () => ({}),
  step: () => ({ done: true }),
  score: () => 1,
};
const recipe = smallRecipe(
  {},
  {
    domains: {
      math: { weight: 1, source: "procedural/math", environment: mine, episode: { maxTurns: 3 } },
      "word-guess": { weight: 1, source: "procedural/word-guess", environment: "word-guess" },
      logic: { weight: 1, source: "procedural/logic" },
    },
  },
);

test("domains with an environment are played, by the object or the name that the recipe gives", () => {
  const plays = playsOf(recipe);
  expect([...plays.keys()]).toEqual(["math", "word-guess"]);
  expect(plays.get("math")).toMatchObject({ environment: mine, maxTurns: 3, timeoutMs: 10_000 });
  expect(plays.get("word-guess")).toMatchObject({ maxTurns: 8 });
  expect(() => expectEnvironments(recipe)).not.toThrow();
});

test("a recipe from JSON has the environment's tools and not the environment", () => {
  const read = defineRecipe(JSON.parse(JSON.stringify(recipe)));
  expect(() => expectEnvironments(read)).toThrow(/environment of math is not available in this process/);
  const { environment } = playsOf(read).get("math")!;
  expect(environment.tools).toEqual(mine.tools);
  expect(() => environment.reset({} as never, {} as never)).toThrow(/is not available in this process/);
});

test("an episode has its verdict already; the others are judged, in their order", async () => {
  const asked: number[] = [];
  const verdict = (score: number): Verdict => ({ status: "partial", score, reason: "" });
  const verifiers = besideEpisodes({
    verify: async (requests) => {
      asked.push(requests.length);
      return requests.map((_, i) => verdict(i / 10));
    },
    stats: () => ({}),
  });
  const { rollout } = rolloutOf([1], [2], 1);
  const episode = { given: new Uint8Array(1), givenText: [], turns: 1, toolCalls: 0, verdict: verdict(0.9) };
  const played = { ...rollout, episode };
  const scores = async (requests: (typeof rollout)[]) =>
    (await verifiers.verify(requests)).map((one) => (one as { score: number }).score);
  expect(await scores([rollout, played, rollout, played])).toEqual([0, 0.9, 0.1, 0.9]);
  expect(await scores([played])).toEqual([0.9]);
  expect(asked).toEqual([2]);
});
