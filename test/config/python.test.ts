import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, expect, test } from "vitest";
import { defineRecipe, pythonSettings, recipeDemands, recipeInput } from "../../lib/config/index.ts";
import { minimal } from "./recipes.ts";

const folder = mkdtempSync(join(tmpdir(), "hone-config-python-"));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, "rewards.py");
writeFileSync(file, "hello\n");
/** printf 'hello\n' | sha256sum */
const HASH = "5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03";

const withReward = (reward: object, more: object = {}) => {
  const { domains, ...rest } = minimal();
  const [[name, domain]] = Object.entries(domains) as [[string, object]];
  return defineRecipe({ ...rest, ...more, domains: { [name]: { ...domain, reward } } } as never);
};
const rewardOf = (recipe: ReturnType<typeof withReward>) => Object.values(recipe.domains)[0]!.reward;

test("the file's hash is written beside its place, and what a record has stays", () => {
  const recipe = withReward({ python: `${file}#f` });
  expect(rewardOf(recipe)).toEqual({ python: `${file}#f`, sha256: HASH });
  expect(rewardOf(defineRecipe(recipeInput(recipe)))).toEqual(rewardOf(recipe));
  const recorded = { python: "/not/here.py#f", sha256: "0".repeat(64), completions: "messages" };
  expect(rewardOf(withReward(recorded))).toEqual(recorded);
  expect(rewardOf(withReward({ python: pathToFileURL(file).href }))).toMatchObject({ sha256: HASH });
});

test.each([
  [
    { python: "nowhere.py#f" },
    /reward\.python: is "nowhere\.py#f"; no such file relative to the working folder/,
  ],
  [{ python: "#f" }, /it must be a file and a name in it: "rewards\.py#accuracy"/],
  [{ python: `${file}#f`, completions: "both" }, /completions: is "both"; expected/],
  [{ python: `${file}#f`, bin: "python3" }, /reward\.bin: is not a field of a recipe/],
])("%j is refused", (reward, message) => {
  expect(() => withReward(reward)).toThrow(message);
});

test("settings have defaults; bin is a program, or one with arguments", () => {
  const defaults = { bin: ["python3"], env: [], processes: 1, timeoutSeconds: 60 };
  expect(pythonSettings({})).toEqual(defaults);
  const recipe = withReward(
    { python: `${file}#f` },
    { python: { bin: ["uv", "run", "python"], env: ["TOKEN"] } },
  );
  expect(pythonSettings(recipe)).toEqual({ ...defaults, bin: ["uv", "run", "python"], env: ["TOKEN"] });
  expect(recipeDemands(recipe, ["verifiers"])).toEqual([
    {
      field: expect.stringMatching(/^domains\..*\.reward\.python$/),
      kind: "module",
      url: pathToFileURL(file).href,
      sha256: HASH,
    },
    { field: "python.bin", kind: "program", command: ["uv", "run", "python"] },
    { field: "python.env", kind: "variables", names: ["TOKEN"] },
  ]);
  expect(recipeDemands(defineRecipe(minimal()), ["verifiers"])).toEqual([]);
  expect(() => withReward({ python: `${file}#f` }, { python: { env: ["sk-1"] } })).toThrow(
    /name of an environment variable/,
  );
});
