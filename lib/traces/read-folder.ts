import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { basename, join, resolve } from "node:path";
import { HoneError } from "../errors.ts";
import { RUN_FILES } from "../metrics/index.ts";
import { identityOfLine, readVerdictJournal } from "../orchestration/index.ts";
import type { Verdict } from "../records.ts";
import { drawKey, isEvaluation, readManifest, readRecord } from "../suites/index.ts";
import type { Side, Trace } from "./trace.ts";

export interface ReadOptions {
  /** Most traces per side (before, after). The same problems are drawn in every folder. */
  readonly limit?: number | undefined;
  /** Analyse only this suite of an evaluation. */
  readonly suite?: string | undefined;
}

/** The first and the last 1 / END of a run's completions are compared. */
const END = 10;
/** Fewest completions of a journal for an analysis of its two ends. */
const FEWEST = 20;

/**
 * The traces of one evaluation, of two (before, after), or of one run: its first and its last tenth of judged
 * completions. Throws HONE_ERR_USAGE for other folders, HONE_ERR_DATA if there is nothing to read, HONE_ERR_IO,
 * HONE_ERR_FORMAT.
 */
export async function readSides(folders: readonly string[], options: ReadOptions): Promise<Side[]> {
  const [only, ...more] = folders as [string, ...string[]];
  if (more.length === 0 && isRun(only)) return runEnds(only, options);
  const names = namesOf(folders);
  return folders.map((folder, i) => evaluationSide(folder, names[i]!, options));
}

const isRun = (folder: string): boolean =>
  !isEvaluation(folder) && existsSync(join(folder, RUN_FILES.verdicts));

/** Names of the models; if they are equal, those of the folders. */
function namesOf(folders: readonly string[]): string[] {
  for (const folder of folders) {
    if (isEvaluation(folder)) continue;
    const hint = isRun(folder)
      ? "Give a run folder alone: its first tenth is compared with its last."
      : "Give a folder that hone eval wrote, or a run folder with a journal of verdicts (verdicts.jsonl).";
    throw new HoneError("HONE_ERR_USAGE", `${folder} is not an evaluation folder`, { hint });
  }
  const named = [
    folders.map((folder) => readManifest(folder).model),
    folders.map((one) => basename(resolve(one))),
  ];
  return named.find((names) => new Set(names).size === names.length) ?? [...folders];
}

interface Draw {
  readonly problem: string;
  readonly completion: string;
  readonly order: string;
}

/**
 * Orders draws by the hashes of their problems: the first of them are a sample that is the same in every
 * evaluation.
 */
function evaluationSide(folder: string, name: string, { limit, suite }: ReadOptions): Side {
  const record = readRecord(folder);
  const suites = [...record.suites.values()].filter((line) => suite === undefined || line.suite === suite);
  const draws = suites.flatMap((line) =>
    line.problems.flatMap((problem) =>
      drawsOf(line).flatMap((draw): Draw[] => {
        const completion = record.draws.get(drawKey(problem, draw.attempt, draw.seed));
        return completion === undefined ? [] : [{ problem, completion, order: orderOf(problem, draw) }];
      }),
    ),
  );
  draws.sort((a, b) => (a.order < b.order ? -1 : 1));
  const wanted = draws.slice(0, limit);
  if (wanted.length === 0) throw nothingIn(folder, suite, [...record.suites.keys()]);
  const { texts, questions } = textsOf(folder, wanted);
  const traces = wanted.map(({ problem, completion }): Trace => {
    const { tokens, verdict } = record.completions.get(completion)!;
    const question = questions.get(problem);
    return { problem, question, text: texts.get(completion)!, tokens, correct: isRight(verdict) };
  });
  return { name, traces };
}

const drawsOf = ({ seeds, attempts }: { readonly seeds: readonly number[]; readonly attempts: number }) =>
  seeds.flatMap((seed) => Array.from({ length: attempts }, (_, attempt) => ({ seed, attempt })));

/** Orders draws so that one of every problem comes before the second of any. */
const orderOf = (problem: string, { seed, attempt }: { readonly seed: number; readonly attempt: number }) => {
  const round = `${attempt}`.padStart(8, "0") + `${seed}`.padStart(16, "0");
  return `${round} ${createHash("sha256").update(problem).digest("hex")}`;
};

function textsOf(folder: string, wanted: readonly Draw[]) {
  const completions = new Set(wanted.map(({ completion }) => completion));
  const problems = new Set(wanted.map(({ problem }) => problem));
  const texts = new Map<string, string>();
  const questions = new Map<string, string>();
  readRecord(folder, (line) => {
    if ("completion" in line && completions.has(line.completion)) texts.set(line.completion, line.text);
    else if ("as" in line && problems.has(line.problem)) questions.set(line.problem, line.as.question);
  });
  return { texts, questions };
}

function nothingIn(folder: string, suite: string | undefined, suites: readonly string[]): HoneError {
  const of = suite === undefined ? "" : ` of ${suite}`;
  return new HoneError("HONE_ERR_DATA", `${folder} has no completion${of}`, {
    details: { suites },
    hint: `It was asked: ${suites.join(", ") || "nothing yet"}.`,
  });
}

const isRight = (verdict: Verdict | undefined): boolean | undefined =>
  verdict === undefined || verdict.status === "unscored" ? undefined : verdict.status === "correct";

/**
 * The two ends of a run's completions, in the order of judging, including evaluations before and after
 * training; a repeated text counts at its first occurrence.
 */
async function runEnds(folder: string, { limit }: ReadOptions): Promise<Side[]> {
  const path = join(folder, RUN_FILES.verdicts);
  let count = 0;
  for await (const { kind } of readVerdictJournal(path)) if (kind === "completion") count += 1;
  if (count < FEWEST)
    throw new HoneError(
      "HONE_ERR_DATA",
      `${path} has ${count} completions; comparing its first tenth with its last needs ${FEWEST}`,
    );
  const most = Math.floor(count / END);
  const each = Math.min(limit ?? most, most);
  const ends = [new Map<string, Trace>(), new Map<string, Trace>()] as const;
  let at = 0;
  for await (const entry of readVerdictJournal(path)) {
    if (entry.kind === "completion") {
      const end = at < each ? ends[0] : at >= count - each ? ends[1] : undefined;
      const known = { problem: identityOfLine(entry.problem), question: undefined, text: entry.text };
      end?.set(entry.key, { ...known, tokens: undefined, correct: undefined });
      at += 1;
    } else {
      for (const end of ends) {
        const trace = end.get(entry.key);
        if (trace !== undefined) end.set(entry.key, { ...trace, correct: isRight(entry.verdict) });
      }
    }
  }
  return ends.map((end, i) => ({ name: i === 0 ? "first tenth" : "last tenth", traces: [...end.values()] }));
}
