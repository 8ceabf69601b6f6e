import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, expect, test } from "vitest";
import { batchesOf, loadModel, scoreSequences } from "../../lib/inference/index.ts";
import { patient } from "../patience.ts";

const GOLDENS = resolve(process.env["HONE_SHARED"] ?? "../shared", "reference/goldens/models");
const models = existsSync(GOLDENS) ? readdirSync(GOLDENS) : [];

interface GoldenSequence {
  readonly name: string;
  readonly ids: number[];
  readonly position_ids?: number[];
  readonly rows?: [number, number];
  readonly next_logprobs: number[];
  readonly entropies: number[];
  readonly "next_logprobs_t0.7": number[];
  readonly "entropies_t0.7": number[];
}

/** Ten times the error of PyTorch's own float32 against float64. */
const TOLERANCE = 1e-4;

describe.skipIf(models.length === 0)("published goldens (skipped without them)", () => {
  test.each(models)(
    "%s: log-probabilities and entropies at two temperatures",
    async (name) => {
      const directory = join(GOLDENS, name);
      const golden = JSON.parse(readFileSync(join(directory, "golden.json"), "utf8")) as {
        sequences: GoldenSequence[];
      };
      const sequences = golden.sequences.filter((s) => s.position_ids === undefined);
      expect(sequences.length).toBeGreaterThan(0);
      await using model = await loadModel(directory);
      for (const [temperature, suffix] of [
        [1, ""],
        [0.7, "_t0.7"],
      ] as const) {
        const { vocabulary, maxPositions, weights } = model;
        const ids = sequences.map((s) => s.ids);
        const scores = await scoreSequences(weights, ids, { temperature, vocabulary, maxPositions });
        for (const [i, sequence] of sequences.entries()) {
          const from = sequence.rows?.[0] ?? 0;
          expectNear(scores[i]!.logprobs.slice(from), sequence[`next_logprobs${suffix}`]);
          expectNear(scores[i]!.entropy.slice(from), sequence[`entropies${suffix}`]);
        }
      }
    },
    patient(120_000),
  );

  test("a sequence as long as the context has no distribution after its end", async () => {
    await using model = await loadModel(join(GOLDENS, "llama-tied"));
    const { vocabulary, maxPositions } = model;
    const full = Array.from({ length: maxPositions }, (_, i) => i % 50);
    const options = { temperature: 1, vocabulary, maxPositions };
    const [whole, part] = await scoreSequences(model.weights, [full, full.slice(0, -1)], options);
    expect(whole!.entropy).toEqual(part!.entropy);
    expect(whole!.logprobs.slice(0, -1)).toEqual(part!.logprobs);
  });

  test("a sequence scores the same to the bit alone and among others", async () => {
    await using model = await loadModel(join(GOLDENS, "qwen3"));
    const { vocabulary, maxPositions } = model;
    const options = { temperature: 1, vocabulary, maxPositions };
    const sequences = [[1, 2, 3], [7], Array.from({ length: 60 }, (_, i) => (i * 37) % model.vocabulary)];
    const together = await scoreSequences(model.weights, sequences, options);
    for (const [i, ids] of sequences.entries())
      expect(together[i]).toEqual((await scoreSequences(model.weights, [ids], options))[0]);
  });
});

function expectNear(actual: Float32Array, expected: readonly number[]): void {
  expect(actual.length).toBe(expected.length);
  for (const [i, value] of expected.entries())
    expect(Math.abs(actual[i]! - value), `position ${i}`).toBeLessThan(TOLERANCE);
}

test.each([
  [[], "ids is empty; a sequence has at least one token"],
  [[3, -1], "ids[1] is -1, not an integer in [0, 10)"],
  [[10], "ids[0] is 10, not an integer in [0, 10)"],
  [[0.5], "ids[0] is 0.5, not an integer in [0, 10)"],
  [[1, 2, 3, 4, 5], "ids has 5 tokens; the model takes 4"],
])("ids %j are refused before anything is scored", async (ids, message) => {
  const weights = { score: () => Promise.reject(new Error("never asked")) };
  const refused = scoreSequences(weights, [[1], ids], { temperature: 1, vocabulary: 10, maxPositions: 4 });
  await expect(refused).rejects.toMatchObject({ code: "HONE_ERR_DATA", message });
});

test("batches keep the order and the budget; a line over the budget is alone", async () => {
  const lengths = [3, 3, 1, 20, 2];
  async function* lines() {
    for (const length of lengths) yield { ids: new Array<number>(length).fill(0) };
  }
  const batches: number[][] = [];
  for await (const batch of batchesOf(lines(), 8)) batches.push(batch.map(({ ids }) => ids.length));
  expect(batches).toEqual([[3, 3], [1], [20], [2]]);
});
