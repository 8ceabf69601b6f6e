import { HoneError } from "../errors.ts";
import {
  groupsOfRows,
  membersBeside,
  query,
  type Sample,
  type SampleIndex,
  sampleOf,
  wholeSamples,
} from "../samples/index.ts";
import { hints } from "./answers/hints.ts";
import { excerptOf, isReadable, samplesOf, shownGroup, shownSample } from "./run-samples.ts";
import type { Watch } from "./watch.ts";
import type { ReportSamples, SamplesAnswer, ShownSample } from "./wire.ts";

/** Parts of a run that completions of each domain are taken from, by its steps. */
const PARTS = 3;
/** Number of samples per sort order, domain and part of the run. */
const EACH = 2;
const TAKEN_BY = ["best", "worst", "longest"] as const;
const EXCERPT_CHARS = 160;
/** Characters of one text, beginning and end together: a report has many. */
const TEXT_CHARS = 8000;
/** Characters of all completions: a page's 2 MB, less what its charts take. */
const MOST_CHARS = 500_000;
/** Completions whose texts are read at once. */
const BATCH = 64;

/**
 * Completions kept in a static report: those that hints name, then, for each domain and each third of the run, some
 * of the best, the worst and the longest, and then the other members of their groups, as many as fit. Undefined if
 * the run has no completions, or its journal cannot be read.
 */
export async function reportSamples(watch: Watch): Promise<ReportSamples | undefined> {
  try {
    const run = watch.runs[0]!;
    const index = await samplesOf(run);
    if (index === undefined || index.tables.members.rows === 0) return undefined;
    const named = (await hints({ query: new URLSearchParams(), watch })) ?? [];
    const chosen = [...named.flatMap(({ samples }) => samples), ...spread(index, run.info().domains)];
    const rows = chosen.map(({ row }) => row);
    const groups = new Set(rows.flatMap((row) => membersBeside(index, row)));
    const wanted = [...new Set([...rows, ...groups])].map((row) => sampleOf(index, row));
    return await kept(index, wanted.filter(isReadable));
  } catch (error) {
    if (HoneError.is(error)) return undefined;
    throw error;
  }
}

function spread(index: SampleIndex, domains: readonly string[]): Sample[] {
  const [last] = query(index, {}, { limit: 1 }).samples;
  const steps = last?.step ?? 0;
  const parts = Array.from(
    { length: PARTS },
    (_, i) => [Math.floor((i * steps) / PARTS) + 1, Math.floor(((i + 1) * steps) / PARTS)] as const,
  );
  return TAKEN_BY.flatMap((order) =>
    parts.flatMap((part) =>
      domains.flatMap((domain) => query(index, { domain, steps: part }, { order, limit: EACH }).samples),
    ),
  );
}

async function kept(index: SampleIndex, wanted: readonly Sample[]): Promise<ReportSamples> {
  const samples: SamplesAnswer["samples"][number][] = [];
  const shown: Record<number, ShownSample> = {};
  for await (const [sample, one] of asFit(index, wanted)) {
    samples.push(sample);
    shown[sample.row] = one;
  }
  const groups = await groupsOfRows(
    index,
    samples.map(({ row }) => row),
  );
  return { of: index.tables.members.rows, samples, groups: groups.map(shownGroup), shown };
}

/** Completions, in their order, until a file has no room for the next. */
async function* asFit(index: SampleIndex, wanted: readonly Sample[]) {
  let chars = 0;
  for (let at = 0; at < wanted.length; at += BATCH) {
    const batch = wanted.slice(at, at + BATCH);
    const texts = await wholeSamples(
      index,
      batch.map(({ row }) => row),
    );
    for (const [i, whole] of texts.entries()) {
      const sample = { ...batch[i]!, excerpt: excerptOf(whole, EXCERPT_CHARS) };
      const one = shownSample(whole, TEXT_CHARS);
      chars += JSON.stringify([sample, one]).length;
      if (chars > MOST_CHARS) return;
      yield [sample, one] as const;
    }
  }
}
