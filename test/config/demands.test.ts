import { expect, test } from "vitest";
import { expectTrustedRecipes, recipeDemands } from "../../lib/config/demands.ts";
import { defineRecipe, overrideRecipe, recipeInput } from "../../lib/config/index.ts";
import { expectEnvironments } from "../../lib/orchestration/setup/index.ts";
import { readFrom, Trust } from "../../lib/trust.ts";
import { minimal } from "./recipes.ts";

const judge = { url: "http://there/v1", model: "m", apiKeyEnv: "KEY" };
const recipe = () =>
  defineRecipe({
    ...minimal(),
    domains: {
      built: { weight: 1, source: "procedural/math" },
      own: { weight: 1, source: "/srv/rows.mjs", reward: "/srv/reward.mjs#name" },
      judged: {
        weight: 1,
        source: { kind: "jsonl", path: "/srv/rows.jsonl" },
        rewards: { a: { weight: 1, reward: "verifier" }, b: { weight: 1, reward: { judge } } },
      },
    },
    evaluation: {
      sets: { test: { source: "file:///srv/test.mjs", reward: { judge: { ...judge, cache: false } } } },
    },
    verification: { modules: { mine: "/srv/mine.ts" }, env: ["TOKEN"] },
  });

test("everything that a recipe runs or asks is a demand, by what a command opens of it", () => {
  const shown = (use: "problems" | "verifiers" | "objective") =>
    recipeDemands(recipe(), [use]).map(({ field, kind, ...rest }) => [
      field,
      kind,
      Object.values(rest).flat().join(" "),
    ]);
  expect(shown("problems")).toEqual([
    ["domains.own.source", "module", "file:///srv/rows.mjs"],
    ["evaluation.sets.test.source", "module", "file:///srv/test.mjs"],
  ]);
  expect(shown("verifiers")).toEqual([
    ["verification.env", "variables", "TOKEN"],
    ["verification.modules.mine", "module", "file:///srv/mine.ts"],
    ["domains.own.reward", "module", "file:///srv/reward.mjs"],
    ["domains.judged.rewards.b.reward.judge", "server", "http://there/v1 KEY"],
    ["domains.judged.rewards.b.reward.judge.cache", "file", "runs/judge-cache"],
    ["evaluation.sets.test.reward.judge", "server", "http://there/v1 KEY"],
  ]);
  expect(shown("objective")).toEqual([]);
  const slopes = defineRecipe({
    ...minimal(),
    objective: { kind: "custom", slopes: "./test/fixtures/custom-gspo.ts#gspo" },
  });
  expect(recipeDemands(slopes, ["objective"])).toMatchObject([
    { field: "objective.slopes", kind: "module", sha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

test("a recipe of a folder stays one when it is defined again, by whatever way", () => {
  const recorded = readFrom(recipe(), "runs/theirs");
  const again = [
    recorded,
    overrideRecipe(recorded, ["seed=7"]),
    defineRecipe({ ...recipeInput(recorded), seed: 7 }),
  ];
  for (const one of again)
    expect(() => expectTrustedRecipes([one], ["problems"])).toThrow(
      expect.objectContaining({ code: "HONE_ERR_TRUST" }),
    );
  expect(() => expectTrustedRecipes(again, ["objective"])).not.toThrow();
  expect(() => expectTrustedRecipes([recipe()], ["problems", "verifiers"])).not.toThrow();
  const trusted = readFrom(recipe(), "runs/theirs", { trust: Trust.all });
  expect(() => expectTrustedRecipes([trusted], ["problems", "verifiers"])).not.toThrow();
});

test("an environment in Python is a demand, with its hash and the command that starts it", () => {
  const environment = { python: "package.json#Env" };
  const played = defineRecipe({
    ...minimal(),
    domains: { guess: { weight: 1, source: "/srv/rows.mjs", environment } },
    python: { bin: ["uv", "run", "python"], env: ["TOKEN"] },
  });
  const { href: url } = new URL("../../package.json", import.meta.url);
  const sha256 = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect(recipeDemands(played, ["environments"])).toEqual([
    { field: "domains.guess.environment.python", kind: "module", url, sha256 },
    { field: "python.bin", kind: "program", command: ["uv", "run", "python"] },
    { field: "python.env", kind: "variables", names: ["TOKEN"] },
  ]);
  expect(recipeDemands(played, ["verifiers"])).toEqual([]);
  const record = readFrom(overrideRecipe(played, []), "/runs/theirs");
  expect(() => expectEnvironments(record)).toThrow(
    expect.objectContaining({
      code: "HONE_ERR_TRUST",
      message: expect.stringContaining("package.json (sha256 "),
    }),
  );
  expect(() => expectEnvironments(played)).not.toThrow();
});
