import { HoneError } from "../errors.ts";
import type { Verdict } from "../records.ts";
import {
  beforeAfter,
  type ChangeKind,
  type HintKind,
  hints,
  type Order,
  type ProblemKind,
  problems,
  query,
  type Range,
  type SampleFilter,
  SampleIndex,
  sampleOf,
  type Taking,
  takings,
  type WholeSample,
  wholeSample,
  wholeSamples,
} from "../samples/index.ts";
import { heldOutText } from "./held-out-text.ts";
import {
  beforeAfterSamples,
  hintsText,
  problemsText,
  samplesText,
  takingsText,
  wholeSampleText,
} from "./sample-tables.ts";

/** Flags of `hone samples`. */
export interface SampleFlags {
  readonly step?: Range;
  readonly domain?: string;
  readonly problem?: number;
  readonly group?: number;
  readonly attempt?: number;
  readonly verdict?: readonly Verdict["status"][];
  readonly tokens?: Range;
  readonly weights?: Range;
  readonly truncated?: boolean;
  readonly wrongLong?: boolean;
  readonly flippedSince?: number;
  readonly order?: Order;
  readonly offset?: number;
  readonly limit?: number;
  readonly show?: boolean;
  readonly overTime?: boolean;
  readonly problems?: ProblemKind;
  readonly hints?: boolean | HintKind;
  readonly beforeAfter?: ChangeKind;
}

/** Output: a value as JSON, or text. */
export interface Shown {
  readonly value: unknown;
  readonly text: string;
}

const SAMPLES = 20;

/** Throws HONE_ERR_IO, HONE_ERR_FORMAT, HONE_ERR_USAGE for flags that do not go together. */
export async function showSamples(dir: string, flags: SampleFlags, columns: number): Promise<Shown> {
  if (flags.beforeAfter !== undefined) return heldOut(dir, flags.beforeAfter, flags, columns);
  const index = await SampleIndex.open(dir);
  if (flags.domain !== undefined) expectDomain(index, flags.domain);
  if (flags.hints) return shownHints(index, flags.hints, columns);
  if (flags.problems !== undefined) {
    const { domain, offset, limit = SAMPLES } = flags;
    const paging = { limit, ...(offset !== undefined && { offset }) };
    const found = await problems(index, { domain, kind: flags.problems, ...paging });
    return { value: found, text: problemsText(found, columns) };
  }
  if (flags.overTime) return overTime(index, flags, columns);
  const { order, offset, limit = SAMPLES } = flags;
  const page = { limit, ...(order && { order }), ...(offset !== undefined && { offset }) };
  const found = query(index, filterOf(flags), page);
  const whole = await wholeSamples(
    index,
    found.samples.map(({ row }) => row),
  );
  const text = flags.show
    ? whole.map(wholeSampleText).join("\n\n")
    : samplesText(found.total, whole, columns);
  return { value: { total: found.total, samples: flags.show ? whole : found.samples }, text };
}

/** Held-out problems at the first evaluation, and at the evaluation of `--step` or the last one. */
async function heldOut(
  dir: string,
  kind: ChangeKind,
  { domain, step, offset, limit = SAMPLES, show = false }: SampleFlags,
  columns: number,
): Promise<Shown> {
  const found = await beforeAfter(dir, { kind, domain, at: step?.[1], offset, limit });
  if (found !== undefined) return { value: found, text: heldOutText(found, { show, columns }) };
  const which = step === undefined ? "two evaluations" : `an evaluation before and one at step ${step[1]}`;
  throw new HoneError("HONE_ERR_USAGE", `${dir} has no recorded answers of ${which}`, {
    hint: "A run records answers if verification.journal is true (the default): before training, every evaluation.everySteps steps, and after training. Runs of earlier versions recorded none.",
  });
}

/** Rejects an unknown domain: a misspelled one would look like one without completions. */
function expectDomain({ tables: { problems: known }, names }: SampleIndex, domain: string): void {
  const there = new Set(Array.from({ length: known.rows }, (_, row) => names[known.columns.domain[row]!]!));
  if (there.size === 0 || there.has(domain)) return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `--domain is ${JSON.stringify(domain)}; the run has ${[...there].join(", ")}`,
  );
}

function filterOf(flags: SampleFlags): SampleFilter {
  const { step, domain, problem, group, attempt, verdict, tokens, weights } = flags;
  const { truncated, wrongLong, flippedSince } = flags;
  const numbers = { steps: step, problem, group, attempt, tokens, versions: weights, flippedSince };
  return { ...numbers, domain, statuses: verdict, truncated, wrongButLong: wrongLong };
}

async function shownHints(index: SampleIndex, kind: boolean | HintKind, columns: number): Promise<Shown> {
  const found = (await hints(index)).filter((hint) => kind === true || hint.kind === kind);
  const shown = found.map(({ rows, ...hint }) => ({
    ...hint,
    samples: rows.map((row) => sampleOf(index, row)),
  }));
  return { value: shown, text: hintsText(shown, columns) };
}

/** The groups of a problem over time, and one attempt of the first group beside the same attempt of the last. */
async function overTime(
  index: SampleIndex,
  { domain, problem, attempt = 0 }: SampleFlags,
  columns: number,
): Promise<Shown> {
  if (domain === undefined || problem === undefined)
    throw new HoneError("HONE_ERR_USAGE", "--over-time shows one problem: give --domain and --problem");
  const found = takings(index, domain, problem);
  if (found.length === 0)
    throw new HoneError("HONE_ERR_USAGE", `no step took a group of ${domain} problem ${problem}`);
  const [before, after] = await endsOf(index, found, attempt);
  const table = takingsText(found, columns);
  const text = after === undefined ? table : `${table}\n\n${beforeAfterSamples(before, after, columns)}`;
  return { value: { groups: found.map(({ rows: _, ...taking }) => taking), before, after }, text };
}

/** The rows of one attempt in the problem's first group and in its last; undefined if there is only one group. */
async function endsOf(
  index: SampleIndex,
  found: readonly Taking[],
  attempt: number,
): Promise<readonly [WholeSample, WholeSample | undefined]> {
  const of = ({ rows }: Taking) =>
    wholeSample(index, rows.find((row) => sampleOf(index, row).attempt === attempt) ?? rows[0]!);
  const before = await of(found[0]!);
  return [before, found.length > 1 ? await of(found.at(-1)!) : undefined];
}
