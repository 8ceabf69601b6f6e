import type { SlopesFunction, SlopesRequest } from "../custom-objective.ts";
import type { AssembledBatch } from "../orchestration/index.ts";
import { askSlopes, type SlopesSettings } from "../shared/objectives/slopes-function.ts";

/** What a custom objective's function said of one sequence. */
export interface ToldTerms {
  /** [n] ∂loss/∂log p, an entry a token that the policy chose. */
  readonly slopes: Float64Array;
  /** What it adds to the step's loss. */
  readonly loss: number;
  /** False where the function gave one loss for several sequences: `loss` is theirs together, or 0. */
  readonly isOwn: boolean;
}

/**
 * A custom objective's function, and all that it says while a step asks it. The core packs sequences as it likes and names
 * none to the function; of a step with a custom objective it only hands token advantages on, so that those of `data` are
 * the sequence's number instead (float32: exact up to 2^24 sequences), and the function gets the real ones.
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

  /** Of sequence i of the batch; undefined where the step did not ask: its weights are not finite. */
  told(i: number): ToldTerms | undefined {
    return this.#told.get(i);
  }

  readonly ask = (request: SlopesRequest): void => {
    const numbers = request.tokenAdvantages!;
    const tokenAdvantages = this.#advantagesOf(request.sequences, numbers);
    const isOwn = askSlopes(this.#slopes, { ...request, tokenAdvantages }, this.#settings);
    this.#keep(request, numbers, isOwn);
  };

  /** Of the tokens that a request asks about: a sequence's own, or what a teacher gives each of its counted tokens. */
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
