import { existsSync } from "node:fs";
import { join } from "node:path";
import { DIGEST_STEPS, RUN_FILES, RunDigest, type Stretch, stepsWith } from "../metrics/index.ts";
import type { StepRecord } from "../records.ts";
import { isOfVerifiers, ofVerifiers } from "./answers/verifiers.ts";
import type { FoundSteps, StepLog } from "./followed-log.ts";
import { StepTable } from "./step-table.ts";
import type { SeriesAnswer } from "./wire.ts";

/**
 * Most numbers in a static report, over all metrics: each takes about seven bytes, so that the report stays well
 * below 2 MB.
 */
const MOST_NUMBERS = 150_000;
const DIGITS = 5;

const NO_STEPS: FoundSteps = { rows: [], replaced: false };

/**
 * The log of a run as a static report contains it, read once, a line at a time: every metric to five digits;
 * for a long run means over equally many consecutive steps, under the number of the last one. From 16 steps
 * per point on, their number is a multiple of 16, and they are read from the log's digest, a sixteenth of its
 * size. The table has only metrics of verifiers.
 */
export class DigestedLog implements StepLog {
  readonly table = new StepTable(isOfVerifiers);
  readonly at = { id: "", end: 0 };
  readonly series: SeriesAnswer;
  readonly damaged: number = 0;

  /** Throws HONE_ERR_IO. @param most numbers that the points may have in all */
  constructor(runDir: string, most = MOST_NUMBERS) {
    const log = join(runDir, RUN_FILES.log);
    if (!existsSync(log)) {
      this.series = { steps: [], versions: [], series: {} };
      return;
    }
    const digest = new RunDigest(log, join(runDir, RUN_FILES.digest), true);
    const names = namesIn(digest);
    this.table.name(names);
    const each = stepsEach((digest.length * names.size) / most);
    const points = new Points(each, names);
    for (const stretch of each < DIGEST_STEPS ? digest.steps() : digest) {
      points.add(stretch);
      this.table.add({ record: ofTable(stretch), end: 0 });
    }
    this.series = points.series();
    this.damaged = digest.damaged;
  }

  look(): FoundSteps {
    return NO_STEPS;
  }
}

/** Number of steps per point. @param least lower bound of that number */
function stepsEach(least: number): number {
  const each = Math.max(1, Math.ceil(least));
  return each < DIGEST_STEPS ? each : DIGEST_STEPS * Math.ceil(each / DIGEST_STEPS);
}

function namesIn(stretches: Iterable<Stretch>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { metrics } of stretches) for (const name in metrics) names.add(name);
  return names;
}

/** The columns of a range of steps that the table keeps. */
function ofTable(stretch: Stretch): StepRecord {
  const { step, version, metrics } = stretch;
  const kept: Record<string, number> = {};
  for (const name in metrics)
    if (isOfVerifiers(name)) kept[name] = ofVerifiers(name, metrics[name]!, stepsWith(stretch, name));
  return { step, version, metrics: kept };
}

/**
 * A metric: sum over the steps of the current point that have it, their number, and the means of earlier
 * points.
 */
interface Total {
  sum: number;
  count: number;
  readonly means: (number | null)[];
}

/** Means over equally many consecutive steps, by column. Like StretchSum, which would use an object per number. */
class Points {
  readonly #each: number;
  readonly #totals: ReadonlyMap<string, Total>;
  readonly #steps: number[] = [];
  readonly #versions: number[] = [];
  #last = { step: 0, version: 0 };
  #summed = 0;

  /** @param each steps per point. @param names of all metrics */
  constructor(each: number, names: Iterable<string>) {
    this.#each = each;
    this.#totals = new Map(Array.from(names, (name) => [name, { sum: 0, count: 0, means: [] }]));
  }

  add(stretch: Stretch): void {
    const { metrics, steps } = stretch;
    for (const name in metrics) {
      const total = this.#totals.get(name)!;
      const count = stepsWith(stretch, name);
      total.sum += metrics[name]! * count;
      total.count += count;
    }
    this.#last = stretch;
    this.#summed += steps;
    if (this.#summed >= this.#each) this.#end();
  }

  series(): SeriesAnswer {
    if (this.#summed > 0) this.#end();
    const series = Object.fromEntries(Array.from(this.#totals, ([name, { means }]) => [name, means]));
    return { steps: this.#steps, versions: this.#versions, series };
  }

  #end(): void {
    this.#steps.push(this.#last.step);
    this.#versions.push(this.#last.version);
    for (const total of this.#totals.values()) {
      const { sum, count } = total;
      total.means.push(count === 0 ? null : Number((sum / count).toPrecision(DIGITS)));
      [total.sum, total.count] = [0, 0];
    }
    this.#summed = 0;
  }
}
