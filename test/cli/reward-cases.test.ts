import { expect, test } from "vitest";
import { rewardReader } from "../../lib/cli/reward-cases.ts";
import { defineRecipe } from "../../lib/config/index.ts";
import { minimal } from "../config/recipes.ts";

const recipe = defineRecipe({
  ...minimal(),
  domains: {
    math: { weight: 1, source: "procedural/math", reward: () => 1 },
    code: { weight: 1, source: "procedural/code" },
  },
});

test("a case is a problem of the domain, with what its reward may ask", async () => {
  const read = rewardReader(recipe, "math");
  expect(await read({ prompt: "?", response: "4", reference: { answer: 4 }, finish: "length" }, ".")).toEqual(
    {
      verifier: { name: "reward:math" },
      completion: { text: "4", finish: "length" },
      reference: { prompt: "?", verifier: "math", reference: { answer: 4 } },
    },
  );
  expect(await read({ response: "4", verifier: "mine" }, ".")).toMatchObject({
    completion: { finish: "stop" },
    reference: { prompt: "", verifier: "mine" },
  });
  expect(() => read({ prompt: "?" }, ".")).toThrow("reward case: response:");
});

test("a domain without a reward, or that is none, is refused with those that have one", () => {
  for (const domain of ["code", "sorting", "constructor"])
    expect(() => rewardReader(recipe, domain)).toThrow(`gives no reward for domain "${domain}"`);
});
