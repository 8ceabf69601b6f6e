import { writeFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type Recipe, readsReference } from "../config/index.ts";
import {
  counted,
  type DatasetReport,
  type Drops,
  type KeptRow,
  reportLine,
  Tallies,
  type Tally,
} from "../data/index.ts";
import {
  type DatasetSpec,
  filterDataset,
  loadBuiltIn,
  loadMap,
  needsReference,
  ofDomain,
  parseDatasetSpec,
  readerOf,
  referenceFault,
  VERIFIERS,
} from "../domains/index.ts";
import { isPathAlone, localSource, localSpec } from "../orchestration/index.ts";
import type { Problem, Verdict } from "../records.ts";
import { VerifierPool } from "../rewards/index.ts";

/** Lengths of the questions in characters: the shortest, three percentiles, the longest. */
export interface Lengths {
  readonly shortest: number;
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly longest: number;
}

/** Verdicts on the gold answers of a source, by the source's verifier. */
export interface GoldCheck {
  readonly accepted: number;
  readonly rejected: readonly Tally[];
  /** Gold answers that could not be judged, by cause. */
  readonly unscored: readonly Tally[];
  /** Number of rows without an answer. */
  readonly without: number;
}

export interface SourceCheck {
  readonly name: string;
  readonly report: DatasetReport;
  readonly characters: Lengths;
  /** Undefined if the verifier is unknown or was not called. */
  readonly gold: GoldCheck | undefined;
  readonly drops: Drops;
}

export interface DataCheckOptions {
  /** Ask the verifiers about the gold answers. Default true. */
  readonly gold?: boolean;
  /** Number of verifier processes. Default: one per core. */
  readonly workers?: number;
}

/** Rows judged together, while the next are read. */
const BATCH = 256;
const MAX_REASON_CHARS = 160;

/**
 * The data sets of a recipe, by domain. Downloads a Hub data set that is given without a kind, to detect its
 * kind.
 */
export async function datasetsOf({ domains }: Recipe): Promise<Map<string, DatasetSpec>> {
  const found = new Map<string, DatasetSpec>();
  for (const [domain, one] of Object.entries(domains)) {
    const needsReference = readsReference(one);
    const named = isPathAlone(one.source) ? await localSource(one.source, { domain, needsReference }) : one;
    const spec = typeof named.source === "string" ? parseDatasetSpec(named.source) : named.source;
    if (spec !== undefined) found.set(domain, ofDomain(spec, domain, needsReference));
  }
  return found;
}

/**
 * Reads a whole data set as a run would, and has every gold answer judged by its row's verifier. Memory does not grow
 * with the set, except for the rows to drop. Throws HONE_ERR_DATA when a file is missing or damaged.
 */
export async function checkDataset(
  name: string,
  given: DatasetSpec,
  options: DataCheckOptions = {},
): Promise<SourceCheck> {
  const { source: local, hub } = await localSpec(given);
  const spec = await loadMap(local);
  const { domain, verifier } = readerOf(spec);
  const isJudged = needsReference(spec) && VERIFIERS.some((known) => known.name === verifier);
  const judge = isJudged ? await loadBuiltIn(verifier) : undefined;
  const filter = filterDataset(spec, ({ reference }) => referenceFault(judge, reference));
  const lengths: number[] = [];
  const gold =
    judge === undefined || options.gold === false ? undefined : new GoldJudge(domain, verifier, options);
  try {
    for await (const row of filter.rows()) {
      lengths.push([...row.question].length);
      await gold?.add(row);
    }
    await gold?.settle();
  } finally {
    await gold?.close();
  }
  return {
    name,
    report: { ...filter.report(), ...(hub.length > 0 && { hub }) },
    characters: distribution(lengths),
    gold: gold?.result(),
    drops: gold?.drops ?? [],
  };
}

class GoldJudge {
  readonly drops: { readonly key: string; readonly place: string; readonly reason: string }[] = [];
  readonly #problem: Pick<Problem, "domain" | "verifier">;
  readonly #pool: VerifierPool;
  readonly #rejected = new Tallies();
  readonly #unscored = new Tallies();
  #accepted = 0;
  #without = 0;
  #batch: { readonly row: KeptRow; readonly forms: readonly string[] }[] = [];
  #judging: Promise<void> = Promise.resolve();

  constructor(domain: string, verifier: string, { workers = availableParallelism() }: DataCheckOptions) {
    this.#problem = { domain, verifier };
    this.#pool = new VerifierPool({ workers });
  }

  async add(row: KeptRow): Promise<void> {
    const forms = row.gold?.() ?? [];
    if (forms.length === 0) this.#without += 1;
    else this.#batch.push({ row, forms });
    if (this.#batch.length >= BATCH) await this.#judgeNext();
  }

  /** Judges the queued rows. A row is accepted if its verifier accepts one form of its answer. */
  async settle(): Promise<void> {
    await this.#judgeNext();
    await this.#judging;
  }

  /** Begins to judge the queued rows once the previous batch is judged. */
  async #judgeNext(): Promise<void> {
    await this.#judging;
    this.#judging = this.#judge(this.#batch.splice(0));
    this.#judging.catch(() => {}); // the next `await` of #judging throws
  }

  async #judge(
    batch: readonly { readonly row: KeptRow; readonly forms: readonly string[] }[],
  ): Promise<void> {
    const asked = batch.flatMap(({ row, forms }) => forms.map((text) => ({ row, text })));
    const verdicts = await this.#pool.verify(
      asked.map(({ row, text }) => ({ problem: this.#problemOf(row), text, finish: "eos" as const })),
    );
    let at = 0;
    for (const { row, forms } of batch) {
      this.#count(row, verdicts.slice(at, at + forms.length));
      at += forms.length;
    }
  }

  #count({ key, place }: KeptRow, verdicts: readonly Verdict[]): void {
    const unscored = verdicts.find((verdict) => verdict.status === "unscored");
    if (verdicts.some(({ status }) => status === "correct")) this.#accepted += 1;
    else if (unscored !== undefined) this.#unscored.add(unscored.cause, place);
    else {
      const reason = reasonOf(verdicts);
      this.#rejected.add(reason, place);
      this.drops.push({ key, place, reason });
    }
  }

  #problemOf({ family, level, question, reference }: KeptRow): Problem {
    return { id: 0, ...this.#problem, family, level, question, reference };
  }

  result(): GoldCheck {
    const [rejected, unscored] = [this.#rejected.list(), this.#unscored.list()];
    return { accepted: this.#accepted, rejected, unscored, without: this.#without };
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

/** The distinct reasons why the forms of an answer were rejected. */
function reasonOf(verdicts: readonly Verdict[]): string {
  const said = verdicts.map((v) => (v.status === "unscored" ? v.cause : `${v.status}: ${v.reason}`));
  return [...new Set(said)].join(" / ").slice(0, MAX_REASON_CHARS);
}

function distribution(lengths: number[]): Lengths {
  lengths.sort((a, b) => a - b);
  const at = (share: number) => lengths[Math.max(0, Math.ceil(share * lengths.length) - 1)] ?? 0;
  return { shortest: at(0), p50: at(0.5), p90: at(0.9), p99: at(0.99), longest: at(1) };
}

/** Writes a file for a source's option `drops`: the rows whose gold answer was rejected. */
export function writeDrops(path: string, checks: readonly SourceCheck[]): void {
  writeFileSync(
    path,
    `${JSON.stringify(
      checks.flatMap(({ drops }) => drops),
      null,
      1,
    )}\n`,
  );
}

/** True if a source is unusable: no row is left, or its verifier accepts none of the gold answers. */
export function isUseless({ report, gold }: SourceCheck): boolean {
  if (report.training + report.heldOut === 0) return true;
  const asked = gold === undefined ? 0 : gold.accepted + gold.rejected.length + gold.unscored.length;
  return asked > 0 && gold!.accepted === 0;
}

export function dataCheckText(checks: readonly SourceCheck[]): string {
  return checks.flatMap(sourceText).join("\n");
}

function sourceText({ name, report, characters: c, gold }: SourceCheck): string[] {
  const tallies = (list: readonly Tally[]) =>
    list.map(({ reason, rows, first }) => `    ${rows} × ${reason}, at ${first.join(", ")}`);
  const sum = (list: readonly Tally[]) => list.reduce((rows, tally) => rows + tally.rows, 0);
  const lines = [
    `${name}: ${reportLine({ ...report, questions: [], bad: [], leftOut: [], duplicates: [] })}, ${counted(report.files, "file")}`,
    `  questions of ${c.shortest} to ${c.longest} characters: half up to ${c.p50}, 90 % up to ${c.p90}, 99 % up to ${c.p99}`,
  ];
  for (const { reason, rows } of report.questions ?? [])
    lines.push(`  question of ${counted(rows, "row")}: ${reason}`);
  for (const { reason, rows } of report.answers ?? [])
    lines.push(`  answer of ${counted(rows, "row")}: ${reason}`);
  for (const [what, list] of [
    ["bad", report.bad],
    ["left out", report.leftOut],
    ["duplicates", report.duplicates],
  ] as const) {
    if (list.length > 0) lines.push(`  ${sum(list)} ${what}`, ...tallies(list));
  }
  if (report.otherFiles.length > 0)
    lines.push(`  files whose names are not of this data set: ${report.otherFiles.join(", ")}`);
  if (gold === undefined) return [...lines, "  gold answers were not judged"];
  lines.push(
    `  gold answers: ${gold.accepted} accepted by the verifier, ${sum(gold.rejected)} rejected, ${counted(gold.without, "row")} without one`,
    ...tallies(gold.rejected),
  );
  if (gold.unscored.length > 0)
    lines.push(`  ${sum(gold.unscored)} could not be judged`, ...tallies(gold.unscored));
  return lines;
}
