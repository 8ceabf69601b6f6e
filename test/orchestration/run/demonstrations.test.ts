import { expect, test } from "vitest";
import { QUICKSTART_LEXICON } from "../../../lib/domains/index.ts";
import { Demonstrations } from "../../../lib/orchestration/run/demonstrations.ts";
import { openProblems, playsOf } from "../../../lib/orchestration/setup/index.ts";
import { LexiconTokenizer, plainFormat } from "../../../lib/text/index.ts";
import { smallRecipe } from "../small-recipe.ts";

const tokenizer = new LexiconTokenizer(QUICKSTART_LEXICON);
const model = { tokenizer, format: plainFormat(tokenizer) };
const never = new AbortController().signal;

test("answers and episodes are shown in their shares, episodes on the problems of the domain's source", async () => {
  const recipe = smallRecipe(
    {},
    {
      domains: {
        math: { weight: 1, source: "procedural/math" },
        "word-guess": { weight: 1, source: "procedural/word-guess", environment: "word-guess" },
      },
      rollouts: { maxOutputTokens: 80, maxPromptTokens: 48 },
      warmStart: { steps: 4, mixture: { math: 1, "word-guess": 3 } },
    },
  );
  const { sources } = await openProblems(recipe);
  const from = { model, sources, plays: playsOf(recipe) };
  const demonstrations = new Demonstrations(recipe, recipe.warmStart!, from, never);
  const shown = await Promise.all(Array.from({ length: 400 }, (_, i) => demonstrations.at(i)));
  const share = shown.filter(({ problem }) => problem.domain === "word-guess").length / 400;
  expect(Math.abs(share - 0.75)).toBeLessThan(4 * Math.sqrt((0.75 * 0.25) / 400));
  for (const [i, { problem, given }] of shown.entries()) {
    expect(given !== undefined).toBe(problem.domain === "word-guess");
    if (given !== undefined) expect(problem).toEqual(sources.get("word-guess")!.problem(i));
  }
  expect(await demonstrations.at(7)).toEqual(shown[7]);
});
