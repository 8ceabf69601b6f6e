import fc from "fast-check";
import { expect, test, vi } from "vitest";
import { definedRecipe, defineRecipe, type RecipeInput, recipeInput } from "../../lib/config/index.ts";
import { changed, issuesOf, minimal } from "./recipes.ts";

test("what follows from other fields is worked out", () => {
  const { training, engine, model } = defineRecipe(minimal());
  expect(training.credits).toBe(64);
  expect(engine.pages).toBe(64 * 9);
  expect(model.config).toMatchObject({ headDim: 32, kvHeads: 3 });
  const sync = defineRecipe({
    ...minimal(),
    training: { steps: 1, groupsPerStep: 32, schedule: "sync", maxLag: 3 },
  });
  expect(sync.training).toMatchObject({ maxLag: 0, credits: 32 });
});

test("what is meant for a GPU runs on one, unless told otherwise", () => {
  vi.stubEnv("HONE_DEVICE", "");
  const hardware = { gpu: "H100", gpuMemoryGiB: 80 };
  expect(defineRecipe(minimal()).device).toBe("cpu");
  expect(defineRecipe({ ...minimal(), hardware }).device).toBe("cuda");
  expect(defineRecipe({ ...minimal(), hardware, device: "cpu" }).device).toBe("cpu");
  expect(defineRecipe({ ...minimal(), hardware: { gpu: "H100" } }).device).toBe("cuda");
  expect(defineRecipe({ ...minimal(), hardware: { gpuMemoryGiB: 80 } }).device).toBe("cuda");
  expect(defineRecipe({ ...minimal(), hardware: { gpus: 2 } }).device).toBe("cuda");
  expect(defineRecipe({ ...minimal(), hardware: { recompute: true } }).device).toBe("cpu");
  vi.stubEnv("HONE_DEVICE", "cuda");
  expect(defineRecipe(minimal()).device).toBe("cuda");
  expect(defineRecipe({ ...minimal(), device: "cpu" }).device).toBe("cpu");
  vi.unstubAllEnvs();
});

test("a resolved recipe is a recipe, and resolves to itself", () => {
  const once = defineRecipe(minimal());
  expect(defineRecipe(JSON.parse(JSON.stringify(once)) as RecipeInput)).toEqual(once);
});

test("a recipe that goes on from a folder has that folder's tokenizer and no sizes of its own", () => {
  const folder = { ...minimal(), model: { folder: "models/tiny" } };
  const { model, tokenizer, engine } = defineRecipe(folder);
  expect({ model, tokenizer }).toEqual({
    model: { folder: "models/tiny" }, // the model's config.json decides how its weights are stored
    tokenizer: "model",
  });
  expect(engine.pages).toBe(64 * 9);
  expect(defineRecipe(minimal()).tokenizer).toBe("lexicon/quickstart");
  expect(defineRecipe({ ...folder, tokenizer: "lexicon/quickstart" }).tokenizer).toBe("lexicon/quickstart");
});

test("a chat template takes a file, variables of any JSON and a system message, and nothing else", () => {
  const chat = (chatTemplate: unknown) => ({ ...minimal(), model: { folder: "m" }, chatTemplate });
  const whole = { file: "chat.jinja", variables: { enable_thinking: false, n: [1] }, system: "Be brief." };
  expect(defineRecipe(chat(whole) as RecipeInput).chatTemplate).toEqual(whole);
  expect(issuesOf(chat({ sytem: "x" }))).toEqual([
    { path: "chatTemplate.sytem", message: "is not a field of a recipe", suggestion: "system" },
  ]);
  expect(issuesOf(chat({ variables: [1] })).map(({ path }) => path)).toEqual(["chatTemplate.variables"]);
});

test("every issue comes at once, with path, value and the nearest known key", () => {
  const issues = issuesOf(
    changed({
      "objective.clipHihg": 0.1,
      "training.maxLag": -1,
      "objective.kind": "gsop",
      "optimizer.lr": "fast",
      "lengthPenalty.bufferTokens": 100,
      rollout: {},
    }),
  );
  expect(issues.map(({ path, suggestion }) => [path, suggestion])).toEqual(
    expect.arrayContaining([
      ["objective.clipHihg", "clipHigh"],
      ["objective.kind", "gspo"],
      ["optimizer.lr", undefined],
      ["training.maxLag", undefined],
      ["rollout", "rollouts"],
      ["lengthPenalty.bufferTokens", undefined],
    ]),
  );
  expect(issues).toHaveLength(6);
  expect(issues.find(({ path }) => path === "optimizer.lr")!.message).toContain('"fast"');
});

test("a missing field is required by name", () => {
  const input = minimal() as Partial<RecipeInput>;
  delete input.rollouts;
  expect(issuesOf(input)).toEqual([
    { path: "rollouts", message: "is required, with maxOutputTokens, maxPromptTokens" },
  ]);
});

test("any junk is answered with a ConfigError", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (junk) => {
      expect(issuesOf(junk).length).toBeGreaterThan(0);
    }),
    { numRuns: 50 },
  );
});

test("a recipe that defineRecipe made is taken as it is; anything else is checked first", () => {
  const recipe = defineRecipe(minimal());
  expect(definedRecipe(recipe, "x")).toBe(recipe);
  expect(definedRecipe(recipeInput(recipe), "x")).toEqual(recipe);
  expect(definedRecipe({ ...recipe }, "x")).toEqual(recipe);
  for (const other of [undefined, null, 3, "recipe", {}, { default: recipe }])
    expect(() => definedRecipe(other, "createRun")).toThrowError(
      expect.objectContaining({ code: "HONE_ERR_CONFIG", message: expect.stringMatching(/^createRun: /) }),
    );
});

test("a value under an old name is refused with the new one", () => {
  expect(issuesOf(changed({ "advantages.filter": "raw" }))[0]?.suggestion).toBe("score");
  expect(issuesOf(changed({ "advantages.filter": "shaped" }))[0]?.suggestion).toBe("reward");
});

test("only a penalty needs a buffer", () => {
  expect(defineRecipe(changed({ lengthPenalty: { kind: "none" } }) as RecipeInput).lengthPenalty.kind).toBe(
    "none",
  );
  for (const lengthPenalty of [{}, { kind: "lp" }])
    expect(issuesOf(changed({ lengthPenalty })).map(({ path }) => path)).toEqual([
      "lengthPenalty.bufferTokens",
    ]);
});
