import { HoneError } from "../errors.ts";
import type { TrainerFace } from "../native/index.ts";

/** Log-probs and entropies of one sequence of n tokens, in nats. */
export interface SequenceScore {
  /** [n - 1]: log p(ids[i + 1] | ids[0 .. i]), of the logits divided by the temperature. */
  readonly logprobs: Float32Array;
  /** [n] entropies: entry i is that of the distribution after ids[0 .. i]; [n - 1] if the sequence fills the context. */
  readonly entropy: Float32Array;
}

export interface ScoreOptions {
  /** Sampling temperature, > 0. */
  readonly temperature: number;
  /** Size of the model's vocabulary. Tokens. */
  readonly vocabulary: number;
  readonly maxPositions: number;
}

/**
 * Scores sequences together, in one packed pass; each as if it were alone, to the bit.
 * Throws HONE_ERR_DATA for a sequence that is empty or over maxPositions, or an id that is not in [0, vocabulary).
 */
export async function scoreSequences(
  weights: Pick<TrainerFace, "score">,
  sequences: readonly (readonly number[])[],
  { temperature, vocabulary, maxPositions }: ScoreOptions,
): Promise<SequenceScore[]> {
  for (const ids of sequences) checkIds(ids, vocabulary, maxPositions);
  const cuSeqlens = new Int32Array(sequences.length + 1);
  for (const [i, ids] of sequences.entries())
    cuSeqlens[i + 1] = cuSeqlens[i]! + Math.min(ids.length + 1, maxPositions);
  const total = cuSeqlens.at(-1)!;
  const tokens = new Int32Array(total);
  const mask = new Uint8Array(total).fill(1);
  for (const [i, ids] of sequences.entries()) {
    // Appends an arbitrary token: only the distribution before it is used.
    tokens.set(ids, cuSeqlens[i]!);
    mask[cuSeqlens[i]!] = 0;
  }
  const { logprobs, entropies } = await weights.score({ tokens, cuSeqlens, mask }, temperature);
  return sequences.map((ids, i) => {
    const first = cuSeqlens[i]! + 1; // the position of ids[1], scored by the state at ids[0]
    return {
      logprobs: logprobs.slice(first, first + ids.length - 1),
      entropy: entropies.slice(first, cuSeqlens[i + 1]!),
    };
  });
}

/** Throws HONE_ERR_DATA for a sequence that is empty or over maxPositions, or an id that is not in [0, vocabulary). */
export function checkIds(ids: readonly number[], vocabulary: number, maxPositions: number): void {
  if (ids.length > maxPositions)
    throw new HoneError("HONE_ERR_DATA", `ids has ${ids.length} tokens; the model takes ${maxPositions}`);
  if (ids.length === 0)
    throw new HoneError("HONE_ERR_DATA", "ids is empty; a sequence has at least one token");
  const bad = ids.findIndex((id) => !Number.isInteger(id) || id < 0 || id >= vocabulary);
  if (bad < 0) return;
  throw new HoneError("HONE_ERR_DATA", `ids[${bad}] is ${ids[bad]}, not an integer in [0, ${vocabulary})`);
}

/** Lines that are scored together: as many as fit `tokens`, at least one. */
export async function* batchesOf<T extends { readonly ids: readonly number[] }>(
  lines: AsyncIterable<T>,
  tokens: number,
): AsyncGenerator<T[], void, undefined> {
  let batch: T[] = [];
  let held = 0;
  for await (const line of lines) {
    if (batch.length > 0 && held + line.ids.length + 1 > tokens) {
      yield batch;
      batch = [];
      held = 0;
    }
    batch.push(line);
    held += line.ids.length + 1;
  }
  if (batch.length > 0) yield batch;
}
