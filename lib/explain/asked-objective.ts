import type { SlopesFunction, SlopesRequest } from "../custom-objective.ts";
import type { AssembledBatch } from "../orchestration/index.ts";
import { askSlopes, type SlopesSettings } from "../shared/objectives/slopes-function.ts";

/** Result of a custom objective's function for one sequence. */
export interface ToldTerms {
  /** [n] ∂loss/∂log p, one entry per token that the policy chose. */
  readonly slopes: Float64Array;
  /** The sequence's contribution to the step's loss. */
  readonly loss: number;
  /** False if the function returned one loss for several sequences: `loss` is then their total, or 0. */
  readonly isOwn: boolean;
}

/**
 * Calls a custom objective's function and records its results during a step. The core packs sequences in its own
 * order and does not identify them to the function. In a step with a custom objective it only passes token advantages
 * on, so `data` carries the sequence number there (float32: exact up to 2^24 sequences), and the function receives
 * the real ones.
 */
export class AskedObjective {
  readonly data: AssembledBatch["data"];
  readonly #told = new Map<number, ToldTerms>();
  readonly #batch: AssembledBatch;
  readonly #slopes: SlopesFunction;
  readonly #settings: SlopesSettings;

  constructor(slopes: SlopesFunction, settings: SlopesSettings, batch: AssembledBatch) {
    this.#slopes = slopes;
    this.#settings = settings;
    this.#batch = batch;
    const { tokens, cuSeqlens } = batch.data;
    const tokenAdvantages = new Float32Array(tokens.length);
    batch.rollouts.forEach((_, i) => {
      tokenAdvantages.fill(i, cuSeqlens[i], cuSeqlens[i + 1]);
    });
    this.data = { ...batch.data, tokenAdvantages };
  }

  /** What the function returned for sequence i of the batch; undefined if it was not called because weights are not finite. */
  told(i: number): ToldTerms | undefined {
    return this.#told.get(i);
  }

  readonly ask = (request: SlopesRequest): void => {
    const numbers = request.tokenAdvantages!;
    const tokenAdvantages = this.#advantagesOf(request.sequences, numbers);
    const isOwn = askSlopes(this.#slopes, { ...request, tokenAdvantages }, this.#settings);
    this.#keep(request, numbers, isOwn);
  };

  /** Advantages of the tokens in a request: the sequence's own, or the teacher's for each counted token. */
  #advantagesOf(sequences: Int32Array, numbers: Float64Array): Float64Array {
    const { advantages, tokenAdvantages, cuSeqlens, mask } = this.#batch.data;
    const all = numbers.map((i) => advantages[i]!);
    if (tokenAdvantages === undefined) return all;
    for (let s = 0; s + 1 < sequences.length; s++) {
      let at = sequences[s]!;
      const i = numbers[at]!;
      for (let t = cuSeqlens[i]!; at < sequences[s + 1]! && t < cuSeqlens[i + 1]!; t++)
        if (mask[t] === 1) all[at++] = tokenAdvantages[t]!;
    }
    return all;
  }

  #keep({ sequences, out, losses }: SlopesRequest, numbers: Float64Array, isOwn: boolean): void {
    for (let s = 0; s < losses.length; s++) {
      const [begin, end] = [sequences[s]!, sequences[s + 1]!];
      if (end === begin) continue;
      this.#told.set(numbers[begin]!, { slopes: out.slice(begin, end), loss: losses[s]!, isOwn });
    }
  }
}
