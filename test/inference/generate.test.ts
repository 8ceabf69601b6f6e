import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { expect, test } from "vitest";
import { type GeneratedToken, generateTokens, loadModel, scoreSequences } from "../../lib/inference/index.ts";

const GOLDENS = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/models");
const models = existsSync(GOLDENS) ? readdirSync(GOLDENS) : [];
const GREEDY = { sampling: { temperature: 0 }, stopIds: [], seed: 1n } as const;

async function all(tokens: AsyncIterable<GeneratedToken>): Promise<GeneratedToken[]> {
  const list: GeneratedToken[] = [];
  for await (const token of tokens) list.push(token);
  return list;
}

test.skipIf(models.length === 0).each(models)(
  "%s continues greedily as transformers does (skipped without goldens)",
  async (name) => {
    const directory = join(GOLDENS, name);
    const { greedy } = JSON.parse(readFileSync(join(directory, "golden.json"), "utf8")) as {
      greedy: { prompt: number[]; continuation: number[] }[];
    };
    await using model = await loadModel(directory);
    for (const { prompt, continuation } of greedy) {
      const options = { ...GREEDY, maxTokens: continuation.length };
      const tokens = await all(generateTokens(model, Int32Array.from(prompt), options));
      expect(tokens.map(({ id }) => id)).toEqual(continuation);
      expect(tokens.map(({ finish }) => finish)).toEqual(
        continuation.map((_, i) => (i + 1 < continuation.length ? undefined : "length")),
      );
    }
  },
);

test.skipIf(models.length === 0)(
  "a sampled answer is decided by its seed, its log-probs are those of scoring, and it stops where told (skipped without goldens)",
  async () => {
    await using model = await loadModel(join(GOLDENS, "qwen3"));
    const prompt = Int32Array.of(3, 14, 15);
    const options = { sampling: { temperature: 1 }, stopIds: [], maxTokens: 30, seed: 9n };
    const tokens = await all(generateTokens(model, prompt, options));
    expect(await all(generateTokens(model, prompt, options))).toEqual(tokens);
    expect(await all(generateTokens(model, prompt, { ...options, seed: 10n }))).not.toEqual(tokens);

    const { vocabulary, maxPositions } = model;
    const ids = [...prompt, ...tokens.map(({ id }) => id)];
    const [score] = await scoreSequences(model.weights, [ids], { temperature: 1, vocabulary, maxPositions });
    expect(tokens.map(({ logprob }) => logprob)).toEqual(
      Array.from(score!.logprobs.slice(prompt.length - 1)),
    );

    const stop = tokens[7]!.id;
    const first = tokens.findIndex(({ id }) => id === stop);
    const stopped = await all(generateTokens(model, prompt, { ...options, stopIds: [stop] }));
    expect(stopped).toEqual([...tokens.slice(0, first), { ...tokens[first], finish: "eos" }]);
  },
);

test.skipIf(models.length === 0)(
  "ending the iteration early stops the engine (skipped without goldens)",
  async () => {
    await using model = await loadModel(join(GOLDENS, "llama-tied"));
    for await (const { id } of generateTokens(model, Int32Array.of(1), { ...GREEDY, maxTokens: 200 })) {
      expect(id).toBeGreaterThanOrEqual(0);
      break;
    }
  },
);
