import type { TakenGroup } from "../orchestration/index.ts";
import type { DropReason, FinishReason, Verdict } from "../records.ts";
import { readCompletion } from "./answer.ts";
import type { Journal } from "./journal.ts";
import { hexOf } from "./key-map.ts";
import type { SampleIndex } from "./sample-index.ts";
import { DROPS, FINISHES, NO_THOUGHT, STATUSES } from "./tables.ts";

/** A completion that a step took, without its texts. */
export interface Sample {
  /** The sample's row in the index, valid until the index is rebuilt. */
  readonly row: number;
  readonly step: number;
  readonly group: number;
  readonly attempt: number;
  readonly domain: string;
  /** Id of the problem in its domain: the id of its first draw, which all of its draws share. */
  readonly problem: number;
  /** Id of this draw, which keys its randomness: the id in the record of rollouts and in `hone explain`. */
  readonly drawn: number;
  readonly family: string;
  readonly level: number;
  readonly status: Verdict["status"];
  readonly finish: FinishReason;
  /** Sampled tokens. */
  readonly tokens: number;
  /** Number of characters of the completion, and of its thought if one is marked. */
  readonly chars: number;
  readonly thoughtChars?: number;
  /** Weight versions that sampled the first and the last token. */
  readonly versions: readonly [number, number];
  /** Score of the verdict; absent if the completion was not scored. */
  readonly score?: number;
  readonly reward?: number;
  readonly penaltyScale?: number;
  readonly penalty?: number;
  readonly advantage?: number;
  /** Reason why the sample's group was not trained on; absent if it was. */
  readonly dropped?: DropReason | "unknown";
  /** Truncated, and left out of the loss. */
  readonly masked?: true;
  /** The status from a later verdict (hone rescore), if it differs. */
  readonly rescored?: Verdict["status"];
}

/** A turn of the policy, or text from its environment and the surrounding chat template. */
export interface SpokenPart {
  /** "nobody": placeholder for omitted parts, with their number. */
  readonly by: "policy" | "environment" | "nobody";
  readonly text: string;
}

/** A sample with its texts from the journal: untrusted, may contain control characters. */
export interface WholeSample extends Sample {
  /** Hash of the completion, by which the journal names it. */
  readonly completion: string;
  /** The prompt as the model saw it; absent in journals of older versions. */
  readonly prompt?: string;
  readonly text: string;
  /** Text between the opening and closing marks; absent if nothing marks a thought. */
  readonly thought?: string;
  readonly response: string;
  /** For an episode: its turns with their speakers, in order; their concatenation is the text. */
  readonly turns?: readonly SpokenPart[];
  readonly reference: unknown;
  readonly verifier: string;
  /** Reason of the verdict, or cause if unscored. */
  readonly reason?: string;
  /** [first token, version, first token, version, ...] */
  readonly versionRuns: readonly number[];
}

/** Converts a row of `members` into a sample. */
export function sampleOf(index: SampleIndex, row: number): Sample {
  const { members, problems, completions } = index.tables;
  const at = (name: keyof typeof members.columns) => members.columns[name][row]!;
  const completion = at("completion");
  const problem = at("problem");
  const status = STATUSES[at("status")]!;
  const thought = completions.columns.thought[completion]!;
  const dropped = at("dropped");
  return {
    row,
    step: at("step"),
    group: at("group"),
    attempt: at("attempt"),
    domain: index.names[problems.columns.domain[problem]!]!,
    problem: problems.columns.id[problems.columns.same[problem]!]!,
    drawn: problems.columns.id[problem]!,
    family: index.names[problems.columns.family[problem]!]!,
    level: problems.columns.level[problem]!,
    status,
    finish: FINISHES[completions.columns.finish[completion]!]!,
    tokens: at("tokens"),
    chars: completions.columns.chars[completion]!,
    ...(thought !== NO_THOUGHT && { thoughtChars: thought }),
    versions: [at("firstVersion"), at("lastVersion")],
    ...numbersOf(index, row),
    ...(dropped !== 0 && { dropped: DROPS[dropped] ?? "unknown" }),
    ...(at("masked") === 1 && { masked: true }),
    ...rescored(index, completion, status),
  };
}

const NUMBERS = ["score", "reward", "penaltyScale", "penalty", "advantage"] as const;

function numbersOf(index: SampleIndex, row: number): Partial<Record<(typeof NUMBERS)[number], number>> {
  const { columns } = index.tables.members;
  const numbers = NUMBERS.map((name) => [name, columns[name][row]!] as const);
  return Object.fromEntries(numbers.filter(([, value]) => !Number.isNaN(value)));
}

/** A verdict of a later rescore is only shown if there is one: only a second verdict can differ from the run's. */
function rescored({ verdicts, tables }: SampleIndex, completion: number, was: Verdict["status"]) {
  const [first, last] = [verdicts.first(completion), verdicts.last(completion)];
  if (last === undefined || first === last) return {};
  const status = STATUSES[tables.verdicts.columns.status[last]!]!;
  return status === was ? {} : { rescored: status };
}

/** Reads a sample with its texts. Throws HONE_ERR_IO, HONE_ERR_FORMAT if the run began anew meanwhile. */
export async function wholeSample(index: SampleIndex, row: number): Promise<WholeSample> {
  await using journal = await index.journal();
  return await readWhole(index, row, journal);
}

/** Like wholeSample, for many rows. */
export async function wholeSamples(index: SampleIndex, rows: readonly number[]): Promise<WholeSample[]> {
  await using journal = await index.journal();
  const samples: WholeSample[] = [];
  for (const row of rows) samples.push(await readWhole(index, row, journal));
  return samples;
}

async function readWhole(index: SampleIndex, row: number, journal: Journal): Promise<WholeSample> {
  const { members, problems, completions } = index.tables;
  const completion = members.columns.completion[row]!;
  const problem = members.columns.problem[row]!;
  const placeIn = ({ columns }: { columns: Record<"at" | "size", ArrayLike<number>> }, of: number) => ({
    at: columns.at[of]!,
    size: columns.size[of]!,
  });
  const [said, asked, group] = [
    await journal.line(placeIn(completions, completion)),
    await journal.line(placeIn(problems, problem)),
    await journal.line(placeIn(members, row)),
  ];
  if (!("text" in said) || !("problem" in asked) || !("members" in group))
    throw journal.damaged(placeIn(members, row).at, "the index is of another journal");
  const { thought, response } = readCompletion(said.text);
  const sample = sampleOf(index, row);
  return {
    ...sample,
    completion: hexOf(completions, completion),
    ...(asked.prompt !== undefined && { prompt: asked.prompt }),
    text: said.text,
    ...(thought !== undefined && { thought }),
    response,
    ...(said.given && { turns: turnsOf(said.text, said.given) }),
    reference: asked.reference,
    verifier: asked.verifier,
    ...(await reasonOf(index, row, journal)),
    versionRuns: memberOf(group, sample.attempt)?.versions ?? [],
  };
}

/** @param given begin, end, ... of observations */
function turnsOf(text: string, given: readonly number[]): SpokenPart[] {
  const cuts = [0, ...given, text.length];
  return cuts.slice(1).flatMap((end, i): SpokenPart[] => {
    const part = text.slice(cuts[i], end);
    return part === "" ? [] : [{ by: i % 2 === 0 ? "policy" : "environment", text: part }];
  });
}

const memberOf = ({ members }: TakenGroup, attempt: number) =>
  members.find((member) => member.attempt === attempt);

/** Reason of the member's verdict: a text sampled twice may have been judged once and lost once. */
async function reasonOf(index: SampleIndex, row: number, journal: Journal): Promise<{ reason?: string }> {
  const { members, verdicts } = index.tables;
  const completion = members.columns.completion[row]!;
  const wanted = members.columns.status[row];
  const ends = [index.verdicts.first(completion), index.verdicts.last(completion)];
  const found = ends.find((verdict) => verdict !== undefined && verdicts.columns.status[verdict] === wanted);
  if (found === undefined) return {};
  const line = await journal.line({
    at: verdicts.columns.at[found]!,
    size: verdicts.columns.size[found]!,
  });
  if (!("verdict" in line)) return {};
  return { reason: line.verdict.status === "unscored" ? line.verdict.cause : line.verdict.reason };
}
