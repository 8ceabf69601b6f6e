import { existsSync, statSync } from "node:fs";
import { basename, join, relative, sep } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { z } from "zod";
import type { DatasetSource } from "../data/dataset-source.ts";
import { dataFiles, isDataPath, type ProblemSource } from "../data/index.ts";
import type { Admission } from "../data/row-judge.ts";
import type { DatasetOptions, RowOutcome, RowReader } from "../data/row-reader.ts";
import {
  type DatasetSpec,
  ENVIRONMENTS,
  type Environment,
  EPISODE_SOURCES,
  environmentName,
  findBuiltIn,
  openBenchmark,
  openProblemSource,
  PROBLEM_SOURCES,
  playedIn,
  readerOf,
  referenceFault,
  tellKind,
} from "../domains/index.ts";
import type { Play } from "../episodes/index.ts";
import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";
import { importUserModule, type ModuleUse } from "../user-module.ts";
import { boxedAnswer, statedAnswer } from "./final-answers.ts";
import { SUITES, type SuiteRow } from "./registry.ts";
import { named, type Suite } from "./suite.ts";

export interface OpenSuiteOptions {
  /** Folder with the published sets, each under its suite's name. Default "data". */
  readonly data?: string | undefined;
  /** Verifier for a file's rows, where they are of no published kind. Default "math". */
  readonly verifier?: string | undefined;
  /** Largest number of the model's messages in an episode (default 3), and of tokens in one message. */
  readonly maxTurns?: number | undefined;
  readonly maxTurnTokens?: number | undefined;
}

/**
 * Number of different problems in a generated suite, and the most draws to find them: small families repeat
 * problems.
 */
const MADE_UP = 96;
const MOST_DRAWS = 20 * MADE_UP;
const LEVELS = ["0", "1", "2", "3"];
const MADE_UP_NAME = /^procedural\/|^puzzles/;

/** Generated suites that are judged answer by answer. */
const MADE_UP_SUITES = Object.keys(PROBLEM_SOURCES).filter((name) => !Object.hasOwn(EPISODE_SOURCES, name));

/** Names that `--suite` takes, for messages. */
export const SUITE_NAMES: readonly string[] = [
  ...Object.keys(SUITES),
  "procedural",
  ...MADE_UP_SUITES.filter((source) => !source.startsWith("puzzles/")),
  ...Object.keys(EPISODE_SOURCES),
  "puzzles/<game>",
];

/** Expands a name: "procedural" is all single-turn suites of the quick start. */
export const suitesNamed = (name: string): readonly string[] =>
  name === "procedural" ? MADE_UP_SUITES.filter((source) => source.startsWith("procedural/")) : [name];

/**
 * Opens a suite: a published one by name, with its files under `data` or at "name=path"; a generated one
 * ("procedural/math"); a file of rows, whose kind is detected; or a user's module. Throws HONE_ERR_USAGE for another
 * name, HONE_ERR_DATA if there is no usable data.
 */
export async function openSuite(spec: string, options: OpenSuiteOptions = {}): Promise<Suite> {
  const [, name = spec, path] = /^([^=/]+)=(.+)$/.exec(spec) ?? [];
  if (Object.hasOwn(SUITES, name))
    return openPublished(name, SUITES[name]!, path ?? pathIn(name, options.data));
  if (MADE_UP_SUITES.includes(spec)) return openMadeUp(spec);
  if (Object.hasOwn(EPISODE_SOURCES, spec)) return openPlayed(spec, options);
  if (/\.[cm]?[jt]s$/.test(spec)) return openModule(spec, options);
  if (isDataPath(spec)) return openFile(spec, options.verifier);
  throw new HoneError("HONE_ERR_USAGE", `there is no suite named ${JSON.stringify(spec)}, and no such file`, {
    hint: `Known: ${SUITE_NAMES.join(", ")}; or a file of rows (.jsonl, .parquet, ...), or a module of your own.`,
  });
}

/** Path of a published suite's files: a folder or a file of its name. Throws HONE_ERR_DATA. */
function pathIn(name: string, data = "data"): string {
  const endings = [
    "",
    ...["jsonl", "json", "jsonl.gz", "json.gz", "parquet", "csv"].map((ending) => `.${ending}`),
  ];
  const paths = endings.map((ending) => join(data, `${name}${ending}`));
  const found = paths.find((path) => existsSync(path));
  if (found !== undefined) return found;
  throw new HoneError(
    "HONE_ERR_DATA",
    `suite ${name}: there is no ${paths[0]}, nor a data file of that name`,
    {
      hint: `Nothing is downloaded: put the files of ${SUITES[name]!.published} there, or say where they are: --suite ${name}=<path>.`,
    },
  );
}

async function openPublished(name: string, row: SuiteRow, path: string): Promise<Suite> {
  const { dataset, split, metric = "correct", answer, levels = [] } = row;
  const files = filesOf(row, path);
  const spec = { kind: dataset, path: files, ...(split !== undefined && { split }) } as DatasetSpec;
  const source = await openBenchmark(spec, { path: files }, await admission(readerOf(spec).verifier));
  return { name, metric, answer, levels, modules: {}, ...problemsOf(source) };
}

/** Files of one set, in a folder that has several published sets. */
function filesOf({ split, set }: SuiteRow, path: string): string | readonly string[] {
  if (set === undefined || !statSync(path, { throwIfNoEntry: false })?.isDirectory()) return path;
  const isNamed = (part: string) => part === set || part.startsWith(`${set}.`) || part.startsWith(`${set}-`);
  const meant = dataFiles(path, split)
    .map((file) => file.path)
    .filter((file) => relative(path, file).split(sep).some(isNamed));
  return meant.length > 0 ? meant : path;
}

/** Leaves out rows whose reference their verifier refuses. */
async function admission(name: string): Promise<Admission> {
  const verifier = await findBuiltIn(name);
  return ({ reference }) => referenceFault(verifier, reference);
}

function problemsOf(source: DatasetSource): Pick<Suite, "count" | "problem" | "report"> {
  return {
    count: source.heldOutCount,
    problem: (index) => named(source.heldOut(index)),
    report: source.report,
  };
}

/** The first distinct held-out problems. */
function differentProblems(source: ProblemSource): Problem[] {
  const found = new Map<number, Problem>();
  for (let index = 0; index < MOST_DRAWS && found.size < MADE_UP; index++) {
    const problem = named(source.heldOut(index));
    if (!found.has(problem.id)) found.set(problem.id, problem);
  }
  return [...found.values()];
}

async function openMadeUp(name: string): Promise<Suite> {
  const source = await openProblemSource(name, { seed: 0, ordinal: 0 });
  const answer = MADE_UP_NAME.test(name) ? statedAnswer : undefined;
  const problems = differentProblems(source);
  const asked = { count: problems.length, problem: (index: number) => problems[index]! };
  return { name, metric: "correct", answer, levels: LEVELS, modules: {}, ...asked };
}

/** Default number of turns, as in the recipes of the built-in environments. */
const TURNS = 3;
const CALL_MS = 10_000;

/** Environment and limits of episodes: the name includes the limits, so that episodes with other limits are kept apart. */
function playOf(
  name: string,
  environment: Environment,
  { maxTurns = TURNS, maxTurnTokens }: OpenSuiteOptions,
) {
  const each = maxTurnTokens === undefined ? "" : ` of ${maxTurnTokens} tokens`;
  const rules = `${name}, ${maxTurns} turns${each}`;
  const play: Play = { environment, maxTurns, maxTurnTokens, timeoutMs: CALL_MS };
  return { play, rules, judge: environmentName(rules) };
}

async function openPlayed(name: string, options: OpenSuiteOptions): Promise<Suite> {
  const environment = ENVIRONMENTS[name.slice("procedural/".length)]!;
  const { play, rules } = playOf(name, environment, options);
  const source = await openProblemSource(name, { seed: 0, ordinal: 0 });
  const problems = differentProblems(playedIn(source, rules, environment));
  const asked = { count: problems.length, problem: (index: number) => problems[index]! };
  return { name, metric: "correct", levels: LEVELS, modules: {}, play, ...asked };
}

async function openFile(path: string, verifier?: string): Promise<Suite> {
  const spec = await tellKind(path, verifier);
  const known = Object.values(SUITES).find((row) => row.dataset === spec.kind);
  const answer = spec.kind === "jsonl" && spec.verifier === "math" ? boxedAnswer : known?.answer;
  const { metric = "correct", levels = [] } = known ?? {};
  const source = await openBenchmark(spec, { path }, await admission(readerOf(spec).verifier));
  return { name: basename(path), metric, answer, levels, modules: {}, ...problemsOf(source) };
}

const isEnvironmentObject = (value: unknown): boolean =>
  typeof value === "object" &&
  value !== null &&
  ["reset", "step", "score"].every((name) => typeof (value as Record<string, unknown>)[name] === "function");

const text = z.string().trim().min(1);
const rowSchema = z.object({
  question: text,
  reference: z.unknown(),
  subject: text.optional(),
  level: z.int().min(0).optional(),
  messages: z.array(z.looseObject({ role: text })).optional(),
});
/** Default export of a user's module; docs/how-to/write-a-suite.md. */
const moduleSchema = z.object({
  name: text,
  path: z.union([z.string().min(1), z.array(z.string().min(1)).min(1), z.instanceof(URL)]),
  read: z.custom<(row: unknown) => unknown>((value) => typeof value === "function", "must be a function"),
  verify: z.custom<() => unknown>((value) => typeof value === "function", "must be a function").optional(),
  env: z.array(text).default([]),
  verifier: text.optional(),
  environment: z.custom<Environment>(isEnvironmentObject, "must have reset, step and score").optional(),
  metric: z.enum(["correct", "score"]).default("correct"),
  levels: z.array(text).default([]),
  answer: z.custom<Suite["answer"]>((value) => typeof value === "function", "must be a function").optional(),
});

const HOW_IT_JUDGES =
  "A suite judges by verify(completion, reference), which gives a verdict, names a built-in verifier, or has an environment; a recipe's reward({ prompt, completion, ... }) is called from verify. See docs/how-to/write-a-suite.md.";

const WHAT_A_SUITE_IS =
  "A suite is a default export { name, path, read(row), verify or verifier }; see docs/how-to/write-a-suite.md.";
const USE: ModuleUse = { what: "suite", code: "HONE_ERR_DATA", hint: WHAT_A_SUITE_IS };

/** Throws HONE_ERR_DATA if the module cannot be imported or its default export is not a suite. */
async function openModule(file: string, options: OpenSuiteOptions): Promise<Suite> {
  const url = pathToFileURL(file).href;
  const parsed = moduleSchema.safeParse((await importUserModule(url, USE))["default"]);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new HoneError(
      "HONE_ERR_DATA",
      `${file}: ${issue!.path.join(".") || "default export"}: ${issue!.message}`,
      { hint: WHAT_A_SUITE_IS },
    );
  }
  const { name, path, verify, env, metric, levels, answer, environment } = parsed.data;
  const played = environment && playOf(name, environment, options);
  const { verifier = played?.judge ?? (verify && name) } = parsed.data;
  if (verifier === undefined || (played && verifier !== played.judge) || (played && verify))
    throw new HoneError("HONE_ERR_DATA", `${file}: set one of verify, verifier and environment`, {
      hint: HOW_IT_JUDGES,
    });
  const reader: RowReader<DatasetOptions> = {
    domain: name,
    verifier,
    options: {},
    open: () => (raw) => rowOf(parsed.data.read(raw.value), name),
  };
  const paths = path instanceof URL ? [fileURLToPath(path)] : [path].flat();
  const source = await openBenchmark({ kind: name, reader }, { path: paths }, await admission(verifier));
  const modules = verify === undefined ? {} : { [verifier]: url };
  const rows = problemsOf(source);
  const suite = { name, metric, answer, levels, modules, env, ...rows };
  if (played === undefined) return suite;
  const tools = environment?.tools && { tools: JSON.stringify(environment.tools) };
  const problem = (index: number) => named({ ...tools, ...rows.problem(index) });
  return { ...suite, problem, play: played.play };
}

function rowOf(row: unknown, name: string): RowOutcome {
  if (row === undefined) return { leftOut: "read() returned nothing" };
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    return { bad: `read(): ${issue!.path.join(".") || "row"}: ${issue!.message.toLowerCase()}` };
  }
  const { question, reference, subject, level = 0, messages } = parsed.data;
  return {
    content: question,
    question,
    ...(messages && { messages }),
    family: subject ?? name,
    level,
    reference,
  };
}
