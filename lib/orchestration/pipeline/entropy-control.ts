import type { Recipe } from "../../config/index.ts";

/** State of the control after a step. */
export interface EntropyState {
  readonly coef: number;
  /** Mean entropy over the tokens of the last step, in nats; null before the first step. */
  readonly entropy: number | null;
}

type Settings = Pick<Recipe["objective"], "entropyCoef" | "entropyControl">;

/**
 * Adapts the coefficient of the entropy bonus after every step, within its bounds: adds delta if the step's
 * mean entropy was at or below the target, else subtracts it. Above the target the coefficient is kept but
 * not applied. He et al. 2025, "Skywork Open Reasoner 1". Without `entropyControl` the recipe's entropyCoef
 * applies.
 */
export class EntropyControl {
  readonly #settings: Settings;
  #state: EntropyState;

  constructor(settings: Settings, state?: EntropyState) {
    this.#settings = settings;
    this.#state = state ?? { coef: settings.entropyCoef, entropy: null };
  }

  /** The coefficient of the next step. */
  get applied(): number {
    const { entropyControl: rule, entropyCoef } = this.#settings;
    if (rule === undefined) return entropyCoef;
    const { coef, entropy } = this.#state;
    return entropy === null || entropy <= rule.target ? coef : 0;
  }

  /** @param entropies [T] of a step, counted where mask is 1; a step with non-finite entropies is ignored */
  stepped(entropies: Float32Array, mask: Uint8Array): void {
    const { entropyControl: rule } = this.#settings;
    if (rule === undefined) return;
    let sum = 0;
    let n = 0;
    for (const [t, counts] of mask.entries()) {
      if (counts === 0) continue;
      sum += entropies[t]!;
      n += 1;
    }
    const entropy = sum / n;
    if (!Number.isFinite(entropy)) return;
    const moved = this.#state.coef + (entropy <= rule.target ? rule.delta : -rule.delta);
    this.#state = { coef: Math.min(rule.max, Math.max(rule.min, moved)), entropy };
  }

  /** State for a checkpoint; undefined without entropyControl. */
  saved(): EntropyState | undefined {
    return this.#settings.entropyControl && this.#state;
  }
}
