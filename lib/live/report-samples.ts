import { HoneError } from "../errors.ts";
import { query, type Sample, type SampleIndex, wholeSamples } from "../samples/index.ts";
import { hints } from "./answers/hints.ts";
import { excerptOf, isReadable, samplesOf, shownSample } from "./run-samples.ts";
import type { Watch } from "./watch.ts";
import type { ReportSamples, SamplesAnswer, ShownSample } from "./wire.ts";

/** Parts of a run that completions of each domain are taken from, by its steps. */
const PARTS = 3;
/** Samples of each order that a domain has in a part. */
const EACH = 2;
const TAKEN_BY = ["best", "worst", "longest"] as const;
const EXCERPT_CHARS = 160;
/** Characters of one text, beginning and end together: a report has many. */
const TEXT_CHARS = 8000;
/** Characters of all texts: a page's 2 MB, less what its charts take. */
const MOST_CHARS = 500_000;

/**
 * Completions kept in a static report: those that hints name, then for each domain early, in the middle and late some
 * of the best, of the worst and of the longest, as many as fit. Undefined if the run has none, or its journal cannot be
 * read.
 */
export async function reportSamples(watch: Watch): Promise<ReportSamples | undefined> {
  try {
    const run = watch.runs[0]!;
    const index = await samplesOf(run);
    if (index === undefined || index.tables.members.rows === 0) return undefined;
    const named = (await hints({ query: new URLSearchParams(), watch })) ?? [];
    const chosen = [...named.flatMap(({ samples }) => samples), ...spread(index, run.info().domains)].filter(
      isReadable,
    );
    return await kept(index, [...new Map(chosen.map((one) => [one.row, one])).values()]);
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

async function kept(index: SampleIndex, chosen: readonly Sample[]): Promise<ReportSamples> {
  const samples: SamplesAnswer["samples"][number][] = [];
  const shown: Record<number, ShownSample> = {};
  let chars = 0;
  const texts = await wholeSamples(
    index,
    chosen.map(({ row }) => row),
  );
  for (const [i, whole] of texts.entries()) {
    const one = shownSample(whole, TEXT_CHARS);
    chars += JSON.stringify(one).length;
    if (chars > MOST_CHARS) break;
    samples.push({ ...chosen[i]!, excerpt: excerptOf(whole, EXCERPT_CHARS) });
    shown[one.row] = one;
  }
  return { of: index.tables.members.rows, samples, shown };
}
