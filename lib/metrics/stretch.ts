import type { StepRecord } from "../records.ts";

/** Consecutive steps as one: a record with the last step's number and version, whose metrics are means. */
export interface Stretch extends StepRecord {
  /** Number of its first step. */
  readonly first: number;
  /** Number of steps. */
  readonly steps: number;
  /** For a metric that some steps of the stretch lack, the number of steps that have it. */
  readonly counts?: Readonly<Record<string, number>> | undefined;
}

/** A single step as a stretch. */
export const stretchOf = (record: StepRecord): Stretch => ({ first: record.step, steps: 1, ...record });

/** Number of steps of a stretch that a metric's mean is over. */
export const stepsWith = ({ steps, counts, metrics }: Stretch, name: string): number =>
  counts?.[name] ?? (name in metrics ? steps : 0);

/** Puts stretches together, in ascending order: each metric's mean is over the steps that have it. */
export class StretchSum {
  readonly #sums = new Map<string, { sum: number; count: number }>();
  #first = 0;
  #last: StepRecord | undefined;
  steps = 0;

  add(next: Stretch): void {
    if (this.steps === 0) this.#first = next.first;
    this.#last = next;
    this.steps += next.steps;
    for (const name in next.metrics) {
      const count = next.counts?.[name] ?? next.steps;
      const value = next.metrics[name]! * count;
      const total = this.#sums.get(name);
      if (total === undefined) this.#sums.set(name, { sum: value, count });
      else {
        total.sum += value;
        total.count += count;
      }
    }
  }

  /** At least one step must have been added. */
  get stretch(): Stretch {
    const { step, version } = this.#last!;
    const metrics: Record<string, number> = {};
    const counts: Record<string, number> = {};
    for (const [name, { sum, count }] of this.#sums) {
      metrics[name] = sum / count;
      if (count !== this.steps) counts[name] = count;
    }
    const partial = Object.keys(counts).length > 0 && { counts };
    return { first: this.#first, step, version, steps: this.steps, metrics, ...partial };
  }
}
