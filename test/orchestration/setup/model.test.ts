import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { defineRecipe, type RecipeInput } from "../../../lib/config/index.ts";
import { layersOfAttention, modelFacts } from "../../../lib/inference/index.ts";
import { newModelConfig, openModel } from "../../../lib/orchestration/setup/model.ts";
import { noAddon } from "../../e2e/native-core.ts";
import { tinyConfig, tinyModel, writeModelFiles } from "../../fixtures/model-folder.ts";
import { smallRecipe } from "../small-recipe.ts";
import { StandInTrainer } from "../stand-in-core.ts";

describe("a new model", () => {
  const sizesWith = (config: object) =>
    smallRecipe(
      {},
      { model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 128, ...config } } },
    ).model.config!;

  test("has the config.json of the family that has its switches", () => {
    expect(JSON.parse(newModelConfig(sizesWith({}), 226))).toEqual({
      model_type: "llama",
      vocab_size: 226,
      hidden_size: 32,
      num_hidden_layers: 1,
      num_attention_heads: 2,
      num_key_value_heads: 2,
      head_dim: 16,
      intermediate_size: 64,
      max_position_embeddings: 128,
      rms_norm_eps: 1e-5,
      rope_theta: 10_000,
      tie_word_embeddings: true,
      hidden_act: "silu",
    });
    expect(JSON.parse(newModelConfig(sizesWith({ qkvBias: true }), 226)).model_type).toBe("qwen2");
    const own = JSON.parse(newModelConfig(sizesWith({ qkNorm: true, vocabulary: 300 }), 226));
    expect(own).toMatchObject({ model_type: "qwen3", vocab_size: 300 });
  });

  test.skipIf(noAddon !== undefined)("has the layers and experts that its sizes ask for", () => {
    const experts = { count: 4, chosen: 2 };
    const configOf = (parts: object) =>
      newModelConfig(sizesWith({ heads: 2, headDim: 16, layers: 4, ...parts }), 226);
    const factsOf = (parts: object) => modelFacts(configOf(parts), "here.json");
    const dense = factsOf({ qkNorm: true });
    expect(factsOf({ experts })).toMatchObject({ experts: 4, expertsPerToken: 2, expertWidth: 64 });
    expect(factsOf({ experts }).parameters - dense.parameters).toBe(4 * 32 * (3 * 3 * 64 + 4)); // three more MLPs and a router
    expect(JSON.parse(configOf({ experts }))).toMatchObject({
      model_type: "qwen3_moe",
      norm_topk_prob: true,
    });
    const hybrid = configOf({ attentionEvery: 2 });
    expect(layersOfAttention(hybrid, 4)).toBe(2);
    expect(JSON.parse(hybrid)).toMatchObject({
      model_type: "qwen3_5_text",
      layer_types: ["linear_attention", "full_attention", "linear_attention", "full_attention"],
      linear_num_value_heads: 2,
      linear_value_head_dim: 16,
    });
    expect(factsOf({ attentionEvery: 2 }).warnings).toEqual([]);
    const both = factsOf({ attentionEvery: 4, experts });
    expect([both.experts, both.warnings]).toEqual([4, []]);
    expect(JSON.parse(configOf({ attentionEvery: 4, experts })).model_type).toBe("qwen3_5_moe_text");
  });

  test("is asked the bare question, ends at eos, and starts from weights of the recipe's seed", async () => {
    const { format, tokenizer, origin, fill } = await openModel(smallRecipe());
    expect(tokenizer.decode(format.prompt({ question: "1+1" }))).toBe("<bos>1+1");
    expect([format.stopIds, origin]).toEqual([[tokenizer.special.eos], undefined]);
    const [here, there] = [new StandInTrainer({}), new StandInTrainer({})];
    await fill(here);
    await there.initialize(7n);
    expect(here.word).toBe(there.word);
  });

  test.skipIf(noAddon !== undefined).each([{ balanceCoef: 0.01 }, { replay: true }])(
    "has routers where the objective has %j",
    async (router) => {
      const recipeOf = (parts: object) =>
        smallRecipe(
          {},
          {
            model: { config: { width: 32, layers: 1, heads: 2, mlpWidth: 64, maxPositions: 128, ...parts } },
            objective: { router },
          },
        );
      await expect(openModel(recipeOf({}))).rejects.toThrow(/objective.router is for mixtures of experts/);
      await openModel(recipeOf({ experts: { count: 2, chosen: 1 } }));
    },
  );

  test("must have room for the tokenizer's vocabulary", async () => {
    const config = { width: 32, layers: 1, heads: 2, mlpWidth: 64, vocabulary: 100 };
    const recipe = smallRecipe({}, { model: { config } });
    await expect(openModel(recipe)).rejects.toThrow(/model.config.vocabulary is 100, below/);
  });
});

describe.skipIf(noAddon !== undefined)("a model's folder", () => {
  let folder = "";
  beforeAll(async () => {
    folder = await tinyModel(join(mkdtempSync(join(tmpdir(), "hone-folder-")), "tiny"));
  });
  afterAll(() => rmSync(join(folder, ".."), { recursive: true }));
  const recipeOf = (rest: Partial<RecipeInput> = {}) =>
    defineRecipe({
      name: "folder",
      model: { folder },
      domains: { math: { weight: 1, source: "procedural/math" } },
      rollouts: { maxOutputTokens: 40, maxPromptTokens: 60 },
      lengthPenalty: { kind: "none", bufferTokens: 10 },
      training: { steps: 1, groupsPerStep: 1 },
      ...rest,
    });

  test("gives the network, the vocabulary, the chat template and the weights", async () => {
    const { config, tokenizer, format, origin, fill } = await openModel(recipeOf());
    expect(JSON.parse(config)).toEqual(tinyConfig());
    expect(tokenizer.decode(format.prompt({ question: "1+1?" }))).toBe("<s>[user]1+1?</s>\n[assistant]");
    expect(origin!.folder).toBe(folder);
    const filled: string[] = [];
    const trainer = Object.assign(new StandInTrainer({}), {
      loadHf: async (dir: string) => void filled.push(dir),
    });
    await fill(trainer);
    expect(filled).toEqual([folder]);
  });

  test("may be asked by the recipe's template, and with the quick start's words instead of its own", async () => {
    const asked = await openModel(recipeOf({ chatTemplate: { system: "Be brief." } }));
    expect(asked.tokenizer.decode(asked.format.prompt({ question: "q" }))).toBe(
      "<s>[system]Be brief.</s>\n[user]q</s>\n[assistant]",
    );
    const words = await openModel(recipeOf({ tokenizer: "lexicon/quickstart" }));
    expect(words.tokenizer.decode(words.format.prompt({ question: "q" }))).toBe("<bos>q");
  });

  test("its template tells the time by the clock it is given", async () => {
    const file = join(folder, "..", "dated.jinja");
    writeFileSync(file, "{{ strftime_now('%d %b %Y') }}</s>");
    const { format, tokenizer } = await openModel(
      recipeOf({ chatTemplate: { file } }),
      new Date("2024-07-26T12:00Z"),
    );
    expect(tokenizer.decode(format.prompt({ question: "q" }))).toBe("26 Jul 2024</s>");
  });

  test.each([
    [
      "a context beyond its positions",
      { maxOutputTokens: 500, maxPromptTokens: 60 },
      "is 560; the model has 512",
    ],
    [
      "a stop id beyond its vocabulary",
      { stopIds: [3, 270] },
      "stopIds names 270; the model's vocabulary is 270",
    ],
  ])("refuses %s", async (_, rollouts, message) => {
    const recipe = recipeOf({ rollouts: { maxOutputTokens: 40, maxPromptTokens: 60, ...rollouts } });
    await expect(openModel(recipe)).rejects.toMatchObject({
      code: "HONE_ERR_CONFIG",
      message: expect.stringContaining(message) as string,
    });
  });

  test("refuses a tokenizer with more tokens than the embedding has rows", async () => {
    const short = mkdtempSync(join(tmpdir(), "hone-short-"));
    writeModelFiles(short, tinyConfig({ vocab_size: 200 }));
    await expect(openModel(recipeOf({ model: { folder: short } }))).rejects.toThrow(
      /vocab_size of .*config.json is 200, below the tokenizer's 262/,
    );
    rmSync(short, { recursive: true });
  });

  test.each([["config.json"], ["tokenizer.json"], ["model.safetensors"]])(
    "refuses a folder without %s, naming it",
    async (name) => {
      const bare = mkdtempSync(join(tmpdir(), "hone-bare-"));
      writeModelFiles(bare);
      writeFileSync(join(bare, "model.safetensors"), "");
      rmSync(join(bare, name));
      await expect(openModel(recipeOf({ model: { folder: bare } }))).rejects.toMatchObject({
        code: "HONE_ERR_IO",
        message: expect.stringContaining(name) as string,
      });
      rmSync(bare, { recursive: true });
    },
  );
});
