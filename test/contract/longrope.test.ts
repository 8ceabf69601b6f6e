// Compares a tiny Phi-3 with longrope against transformers in float64, below and above its 4,096 original positions,
// and the engine against the trainer above them. scripts/make-longrope-golden.py made the goldens.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, test } from "vitest";
import { generateTokens, type LoadedModel, loadModel, scoreSequences } from "../../lib/inference/index.ts";
import { patient } from "../patience.ts";

const FOLDER = "test/fixtures/models/longrope";
const golden = JSON.parse(readFileSync(`${FOLDER}/golden.json`, "utf8")) as Record<
  string,
  Record<string, number>
>;
const tokens = (length: number) => Array.from({ length }, (_, i) => (7 * i * i + 13 * i) % 48);

let model: LoadedModel;
afterEach(() => model[Symbol.asyncDispose]());

async function logprobsOf(ids: readonly number[]): Promise<Float32Array> {
  const { vocabulary, maxPositions } = model;
  const [score] = await scoreSequences(model.weights, [[...ids]], {
    temperature: 1,
    vocabulary,
    maxPositions,
  });
  return Float32Array.from(score!.logprobs);
}

describe("log-probabilities are those of transformers", () => {
  test.each([4096, 4097, 4300])(
    "of %d tokens",
    async (length) => {
      model = await loadModel(FOLDER, { maxContext: () => Promise.resolve(length) });
      expect(model.maxPositions).toBe(length > 4096 ? 16_384 : 4096);
      const logprobs = await logprobsOf(tokens(length));
      // transformers keeps frequencies in f32, so that at position 4,000 its angles are off by 2e-4.
      for (const [place, wanted] of Object.entries(golden[String(length)]!))
        expect(Math.abs(logprobs[Number(place)]! - wanted), place).toBeLessThan(2e-4);
    },
    patient(60_000),
  );
});

test(
  "past the original positions the engine's log-probabilities are the trainer's to the bit",
  async () => {
    model = await loadModel(FOLDER, { maxContext: 4200 });
    const prompt = Int32Array.from(tokens(4090));
    const ids = [...prompt];
    const sampled: number[] = [];
    const options = { sampling: { temperature: 1 }, maxTokens: 12, seed: 3n, stopIds: [] };
    for await (const token of generateTokens(model, prompt, options)) {
      ids.push(token.id);
      sampled.push(token.logprob);
    }
    const scored = await logprobsOf(ids);
    expect(ids.length).toBeGreaterThan(4096);
    expect([...scored.subarray(prompt.length - 1)]).toEqual(sampled);
  },
  patient(60_000),
);
