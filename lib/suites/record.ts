import { existsSync } from "node:fs";
import { join } from "node:path";
import { versionOf } from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import { readJson, writeWhole } from "../metrics/index.ts";
import type { FinishReason, Problem, Verdict } from "../records.ts";
import { contentHash } from "../shared/files/content-hash.ts";
import type { Answer } from "./answerer.ts";
import { MemberLog, readMemberLog } from "./member-log.ts";
import { type Metric, problemKey, type Suite } from "./suite.ts";

/** Files of an evaluation's folder. */
export const EVALUATION_FILES = {
  manifest: "evaluation.json",
  completions: "completions.jsonl.gz",
  results: "results.json",
} as const;

/** Definition of an evaluation; its completions may grow by suites, seeds and attempts. */
export interface EvaluationManifest {
  readonly schema: 1;
  /** Display name of the model. */
  readonly model: string;
  /** Settings that the answers depend on beside problem, seed and attempt. */
  readonly identity: Readonly<Record<string, unknown>>;
}

/** A suite's problems by key, in order. Written again whenever the prompts change. */
export interface SuiteLine {
  readonly suite: string;
  readonly metric: Metric;
  readonly levels: readonly string[];
  readonly problems: readonly string[];
  /** Problems that could not be asked, by reason. */
  readonly unasked: Readonly<Record<string, number>>;
  readonly seeds: readonly number[];
  /** Number of completions per problem and seed. */
  readonly attempts: number;
  /** True if the suite can extract the answer of a completion. */
  readonly tellsAnswers: boolean;
  /** The suite's own verifiers: name to the URL of a module. */
  readonly modules: Readonly<Record<string, string>>;
}

/** One object per line; a completion is named by the hash of its problem, its text and how it ended. */
export type RecordLine =
  | SuiteLine
  | { readonly problem: string; readonly as: Problem }
  | ({ readonly completion: string; readonly of: string; readonly answer?: string } & Omit<Answer, "verdict">)
  | { readonly drawn: string; readonly of: string; readonly seed: number; readonly attempt: number }
  | { readonly verdict: Verdict; readonly on: string; readonly version: number };

/** A completion without its text. */
export interface KeptCompletion {
  readonly key: string;
  readonly problem: string;
  readonly finish: FinishReason;
  readonly tokens: number;
  /** Extracted answer, if the suite can extract one. */
  readonly answer: string | undefined;
  verdict: Verdict | undefined;
  /** Version of the verifier that gave the verdict. */
  version: number;
}

/**
 * Record of an evaluation: problems, completions, the completion of each draw, and verdicts.
 * Content-addressed: a text that several draws produced is stored and judged once. Texts stay on disk.
 */
export class EvaluationRecord {
  readonly suites = new Map<string, SuiteLine>();
  /** Problems by key, without question and reference, which are in the file. */
  readonly problems = new Map<string, Pick<Problem, "family" | "level" | "verifier">>();
  readonly completions = new Map<string, KeptCompletion>();
  /** Problem key, attempt and seed, as {@link drawKey} has them, to the completion. */
  readonly draws = new Map<string, string>();

  /** Applies one line. @returns false for a line that refers to a missing earlier line */
  take(line: RecordLine): boolean {
    if ("suite" in line) this.suites.set(line.suite, line);
    else if ("as" in line) {
      const { family, level, verifier } = line.as;
      this.problems.set(line.problem, { family, level, verifier });
    } else if ("completion" in line) {
      const { completion: key, of: problem, finish, tokens, answer } = line;
      if (!this.completions.has(key))
        this.completions.set(key, { key, problem, finish, tokens, answer, verdict: undefined, version: 0 });
    } else if ("drawn" in line) this.draws.set(drawKey(line.of, line.attempt, line.seed), line.drawn);
    else return this.#judge(line.on, line.verdict, line.version);
    return true;
  }

  #judge(key: string, verdict: Verdict, version: number): boolean {
    const completion = this.completions.get(key);
    if (completion === undefined) return false;
    completion.verdict = verdict;
    completion.version = version;
    return true;
  }
}

export const drawKey = (problem: string, attempt: number, seed: number): string =>
  `${problem} ${attempt} ${seed}`;

function parse(text: string, path: string): RecordLine {
  try {
    const line: unknown = JSON.parse(text);
    const known = ["suite", "problem", "completion", "drawn", "verdict"];
    if (typeof line === "object" && line !== null && known.some((kind) => kind in line))
      return line as RecordLine;
  } catch {
    // the error is thrown after the try block
  }
  throw noLine(path, text);
}

const noLine = (path: string, text: string): HoneError =>
  new HoneError("HONE_ERR_FORMAT", `${path}: not a line of an evaluation: ${text.slice(0, 80)}`);

/** An evaluation under way: the record, and the file that grows with it. */
export class EvaluationLog implements Disposable {
  readonly record = new EvaluationRecord();
  readonly #log: MemberLog;

  /** Reads the existing record. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
  constructor(dir: string) {
    const path = join(dir, EVALUATION_FILES.completions);
    this.#log = new MemberLog(path);
    for (const text of this.#log.lines()) taken(this.record, text, path);
  }

  /** The lines are on the disk, and in the record, when this returns. */
  add(lines: readonly RecordLine[]): void {
    this.#log.append(lines.map((line) => JSON.stringify(line)));
    for (const line of lines) this.record.take(line);
  }

  /** Lines of the file in order, texts of completions among them. */
  *lines(): Generator<RecordLine, void, undefined> {
    for (const line of this.#log.lines()) yield parse(line, this.#log.path);
  }

  [Symbol.dispose](): void {
    this.#log[Symbol.dispose]();
  }
}

/** A draw with its answer. */
export interface AnsweredDraw {
  readonly suite: Suite;
  readonly problem: Problem;
  readonly attempt: number;
  readonly seed: number;
  readonly answer: Answer;
}

/** The lines to append for draws: a completion if its text is new, its verdict if it has one, and the completion of each draw. */
export function linesOfDraws(
  record: EvaluationRecord,
  draws: readonly AnsweredDraw[],
): { readonly keys: readonly string[]; readonly lines: RecordLine[] } {
  const lines: RecordLine[] = [];
  const added = new Set<string>();
  const keys = draws.map(
    ({ suite, problem, attempt, seed, answer: { text, finish, tokens, given, verdict } }) => {
      const of = problemKey(problem);
      const key = contentHash(of, finish, String(tokens), text);
      if (!record.completions.has(key) && !added.has(key)) {
        const answer = suite.answer?.(text);
        const told = { ...(answer !== undefined && { answer }), ...(given && { given }) };
        lines.push({ completion: key, of, text, finish, tokens, ...told });
        if (verdict !== undefined) lines.push({ verdict, on: key, version: versionOf(problem.verifier) });
      }
      added.add(key);
      lines.push({ drawn: key, of, attempt, seed });
      return key;
    },
  );
  return { keys, lines };
}

function taken(record: EvaluationRecord, text: string, path: string): RecordLine {
  const line = parse(text, path);
  if (!record.take(line)) throw noLine(path, text);
  return line;
}

/** Reads the record of an evaluation, finished or not. @param each told every line. Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function readRecord(dir: string, each: (line: RecordLine) => void = () => {}): EvaluationRecord {
  const record = new EvaluationRecord();
  const path = join(dir, EVALUATION_FILES.completions);
  for (const text of readMemberLog(path)) each(taken(record, text, path));
  return record;
}

/** True if a folder is an evaluation. */
export const isEvaluation = (dir: string): boolean => existsSync(join(dir, EVALUATION_FILES.manifest));

/** Throws HONE_ERR_IO, HONE_ERR_FORMAT. */
export function readManifest(dir: string): EvaluationManifest {
  const path = join(dir, EVALUATION_FILES.manifest);
  const manifest = readJson(path) as Partial<EvaluationManifest> | null;
  if (manifest?.schema === 1 && typeof manifest.identity === "object") return manifest as EvaluationManifest;
  throw new HoneError("HONE_ERR_FORMAT", `${path}: no manifest of an evaluation of schema 1`);
}

/** Begins an evaluation in a folder, or resumes it. Throws HONE_ERR_USAGE if the folder has another evaluation. */
export function expectManifest(dir: string, model: string, identity: EvaluationManifest["identity"]): void {
  const path = join(dir, EVALUATION_FILES.manifest);
  if (!existsSync(path)) {
    writeWhole(path, `${JSON.stringify({ schema: 1, model, identity }, null, 2)}\n`);
    return;
  }
  const kept = readManifest(dir).identity;
  const differs = [...new Set([...Object.keys(kept), ...Object.keys(identity)])].filter(
    (name) => JSON.stringify(kept[name]) !== JSON.stringify(identity[name]),
  );
  if (differs.length === 0) return;
  const [name] = differs as [string];
  const [was, is] = [kept[name], identity[name]].map((value) => JSON.stringify(value));
  throw new HoneError(
    "HONE_ERR_USAGE",
    `${dir} has completions with other settings: ${name} is ${is}, in the folder ${was}`,
    {
      details: { differs },
      hint: "Evaluate into another folder (--out): a folder has one model and one sampling setting.",
    },
  );
}
