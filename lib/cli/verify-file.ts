import { availableParallelism } from "node:os";
import { basename, dirname } from "node:path";
import type { Recipe } from "../config/index.ts";
import { CASE_DOMAINS, type CaseReader, type Compat, loadCaseReader } from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { openVerifiers } from "../orchestration/index.ts";
import type { Verdict } from "../records.ts";
import { type VerificationRequest, VerifierPool } from "../rewards/index.ts";
import { parseJson, readLines } from "./json-lines.ts";
import { rewardReader } from "./reward-cases.ts";

export interface VerifyFileOptions {
  readonly domain: string;
  /** JSONL: one object per line; blank lines are skipped. */
  readonly file: string;
  /** Recipe whose reward for the domain judges cases { prompt, response, reference, finish }. */
  readonly recipe?: Recipe | undefined;
  /** Default: strict. */
  readonly compat?: Compat;
  /** Number of verifier processes. Default: one per core. */
  readonly workers?: number;
}

/** Lines that go to a worker together. */
const BATCH = 32;

/** A line to be judged, or why it cannot be. */
type Line = { readonly request: VerificationRequest } | { readonly fault: HoneError };

/**
 * Yields the verdicts on a file of cases, in its order, while reading it; holds a few batches at most. A line
 * that is not a case of the domain becomes unscored, and its error, naming the line, goes to `onFault`.
 * Throws HONE_ERR_USAGE for an unknown domain, HONE_ERR_IO when the file cannot be read.
 */
export async function* verifyFile(
  options: VerifyFileOptions,
  onFault: (error: HoneError) => void = () => {},
): AsyncGenerator<Verdict> {
  const { domain, file, compat = "strict", recipe, workers = availableParallelism() } = options;
  const reader = recipe === undefined ? await readerOf(domain) : rewardReader(recipe, domain);
  await using pool = recipe === undefined ? new VerifierPool({ workers }) : openVerifiers(recipe);
  const running: Promise<Verdict[]>[] = [];
  for await (const batch of batches(readCases(file, domain, reader, compat))) {
    for (const line of batch) if ("fault" in line) onFault(line.fault);
    const verdicts = judge(pool, batch);
    verdicts.catch(() => {}); // a rejection is handled where the promise is awaited
    running.push(verdicts);
    if (running.length >= 2 * workers) yield* await running.shift()!;
  }
  for (const verdicts of running) yield* await verdicts;
}

/** Throws HONE_ERR_USAGE for an unknown domain. */
async function readerOf(domain: string): Promise<CaseReader> {
  const reader = await loadCaseReader(domain);
  if (reader !== undefined) return reader;
  throw new HoneError("HONE_ERR_USAGE", `hone verify cannot read cases of domain ${JSON.stringify(domain)}`, {
    hint: `Known domains: ${CASE_DOMAINS.join(", ")}. Rewards of your own: --recipe <file>.`,
  });
}

async function judge(pool: VerifierPool, batch: readonly Line[]): Promise<Verdict[]> {
  const requests = batch.flatMap((line) => ("request" in line ? [line.request] : []));
  const verdicts = (await pool.verify(requests)).values();
  return batch.map((line) =>
    "fault" in line ? { status: "unscored", cause: line.fault.message } : verdicts.next().value!,
  );
}

async function* batches(lines: AsyncIterable<Line>): AsyncGenerator<Line[]> {
  let batch: Line[] = [];
  for await (const line of lines) {
    batch.push(line);
    if (batch.length < BATCH) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

async function* readCases(
  file: string,
  domain: string,
  reader: CaseReader,
  compat: Compat,
): AsyncGenerator<Line> {
  for await (const { text, number } of readLines(file)) {
    try {
      const { verifier, completion, reference } = await reader(parseRow(text), dirname(file), text);
      const problem = {
        id: number,
        domain,
        family: domain,
        level: 0,
        question: "",
        verifier: verifier.name,
        reference: compat === "strict" ? reference : { ...reference, compat },
      };
      yield { request: { problem, ...completion } };
    } catch (cause) {
      if (!HoneError.is(cause) || cause.code !== "HONE_ERR_DATA") throw cause;
      const message = `${basename(file)}:${number}: ${cause.message}`;
      yield { fault: new HoneError("HONE_ERR_DATA", message, { cause, details: { file, line: number } }) };
    }
  }
}

function parseRow(text: string): Readonly<Record<string, unknown>> {
  const row = parseJson(text);
  if (row === null || typeof row !== "object" || Array.isArray(row)) {
    throw new HoneError("HONE_ERR_DATA", `not a JSON object: ${text.slice(0, 80)}`);
  }
  return row as Readonly<Record<string, unknown>>;
}
