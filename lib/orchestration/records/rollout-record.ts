import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Recipe, recordedLast } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { fileWork, ROLLOUT_FILE, RUN_FILES, readRunManifest } from "../../metrics/index.ts";
import type { OptimizerOptions, StepOptions } from "../../native/face.ts";
import {
  type DomainName,
  type DropReason,
  type FinishReason,
  type Rollout,
  type ScoredRollout,
  sampledTokens,
  type Verdict,
} from "../../records.ts";
import { trainedMembers } from "../../rewards/index.ts";
import { REWRITING } from "../../shared/files/plain-file.ts";
import { textLines } from "../../shared/files/text-lines.ts";
import { weightInLoss } from "../../shared/objectives/objective-forms.ts";
import {
  allGroups,
  type PolicyUpdate,
  type ReplayedGroup,
  type SettledGroup,
  type StepOutcome,
  stepOptions,
  type UpdateReport,
} from "../pipeline/index.ts";
import { rlOptimizer } from "../setup/index.ts";
import { encode } from "./encoded-arrays.ts";
import { givenRuns } from "./logged-episode.ts";
import { versionRuns } from "./version-runs.ts";

/** First line of a step's record. */
export interface RecordedStep {
  readonly schema: 1;
  /** Step number as in steps.jsonl, from 1: checkpoints/step-<step> has the weights after it. */
  readonly step: number;
  readonly versionBefore: number;
  readonly version: number;
  /** Number of group lines that follow. */
  readonly groups: number;
  /** Absent if no group was kept. */
  readonly trained?: {
    readonly groups: number;
    readonly sequences: number;
    /** Number of generated tokens, over which the loss is computed; `sequences` includes masked ones. */
    readonly tokens: number;
    readonly drGrpoNormalizer: number;
    readonly objective: Omit<StepOptions, "muonLr" | "slopes">;
    /** Objective of the step; its seed is the run's seed. */
    readonly optimizer: Omit<OptimizerOptions, "seed">;
    readonly loss: number;
    readonly gradNorm: number;
    readonly skipped: boolean;
    /** The updates on this batch in their order, if there were several; the fields above have their sums and means. */
    readonly updates?: readonly UpdateReport[];
  };
}

export interface RecordedGroup {
  readonly group: number;
  readonly problem: number;
  readonly domain: DomainName;
  readonly family: string;
  readonly level: number;
  readonly submittedVersion: number;
  readonly solveRate: number;
  readonly dropped?: DropReason;
  /** Group from the replay buffer: its first step as in steps.jsonl, which set its rewards and advantages. */
  readonly first?: number;
  /** Ids, int32 (encoded-arrays.ts). */
  readonly prompt: string;
  readonly rollouts: readonly RecordedRollout[];
}

/** Arrays have one entry per generated token. */
export interface RecordedRollout {
  readonly attempt: number;
  readonly finish: FinishReason;
  /** Ids, int32. */
  readonly tokens: string;
  /** Behaviour log-probs, float32: input of the trainer. */
  readonly logprobs: string;
  /** [first token, version, first token, version, ...] */
  readonly versions: readonly number[];
  readonly oldestKv: readonly number[];
  /** Ranges [begin, end, begin, end, ...] of an episode's observation tokens; the loss excludes them. */
  readonly given?: readonly number[];
  /** Bytes in base64, as many for each row; with `objective.router.replay`. */
  readonly routes?: string;
  readonly verdict: Verdict;
  /** Reward after shaping; absent without a verdict. The trainer takes the advantage in float32. */
  readonly reward?: number;
  readonly penaltyScale?: number;
  readonly penalty?: number;
  readonly advantage?: number;
  /** True if the rollout was truncated and excluded from the loss (advantages.overlong: "mask"). */
  readonly masked?: boolean;
  /** Place in the batch and weight in the loss; absent where it was not trained on. */
  readonly sequence?: number;
  readonly weight?: number;
  /** Log-probs of the frozen reference policy, float32, where the objective has a KL term. */
  readonly reference?: string;
  /** Log-probs of the teacher, float32, if the recipe has one. */
  readonly teacher?: string;
  /** Divergence from the teacher's distributions at each token, float32, with `teacher.divergence`. */
  readonly divergence?: string;
  /** Weights or penalties of its tokens, float32, if `objective.tokens` computed them. */
  readonly tokenWeights?: string;
  readonly tokenPenalties?: string;
}

const LEFTOVER = /^step-\d{6,}\.jsonl\.tmp$/;

const fileOf = (dir: string, step: number): string =>
  join(dir, RUN_FILES.rollouts, `step-${String(step).padStart(6, "0")}.jsonl`);

/**
 * Writes the rollouts that a step trained on or dropped to a file named after the step's number in
 * steps.jsonl; the file is complete if it exists. With `rollouts.record: "last:20"` then removes the files of
 * all but the last 20 steps; a kill in between leaves more, which the next step removes. Throws HONE_ERR_IO
 * naming the file.
 */
export function writeRolloutRecord(dir: string, recipe: Recipe, outcome: StepOutcome): void {
  const path = fileOf(dir, outcome.step + 1);
  fileWork(path, () => {
    mkdirSync(join(dir, RUN_FILES.rollouts), { recursive: true });
    const fd = openSync(`${path}.tmp`, REWRITING);
    try {
      for (const line of recordLines(recipe, outcome)) writeAll(fd, `${JSON.stringify(line)}\n`);
    } finally {
      closeSync(fd);
    }
    renameSync(`${path}.tmp`, path);
    const last = recordedLast(recipe.rollouts.record);
    if (Number.isFinite(last)) removeRecords(dir, (step) => step <= outcome.step + 1 - last);
  });
}

function removeRecords(dir: string, isGone: (step: number) => boolean): void {
  const folder = join(dir, RUN_FILES.rollouts);
  for (const name of readdirSync(folder)) {
    const step = ROLLOUT_FILE.exec(name)?.[1];
    if (step !== undefined && isGone(Number(step))) rmSync(join(folder, name));
  }
}

/** Removes the records of steps after `steps`, which a resumed run will write again. Throws HONE_ERR_IO. */
export function cutRolloutRecord(dir: string, steps: number): void {
  const folder = join(dir, RUN_FILES.rollouts);
  fileWork(folder, () => {
    if (!existsSync(folder)) return;
    for (const name of readdirSync(folder)) if (LEFTOVER.test(name)) rmSync(join(folder, name));
    removeRecords(dir, (step) => step > steps);
  });
}

/** Steps with records in a run folder, ascending. Throws HONE_ERR_IO if there are none, or no run. */
export function recordedSteps(dir: string): number[] {
  const folder = join(dir, RUN_FILES.rollouts);
  if (!existsSync(folder)) {
    readRunManifest(dir);
    throw new HoneError("HONE_ERR_IO", `${folder}: no such folder`, {
      hint: 'Rollouts are kept by runs whose recipe says rollouts: { record: "last:20" }, or true for all steps.',
    });
  }
  const names = fileWork(folder, () => readdirSync(folder));
  return names
    .flatMap((name) => (ROLLOUT_FILE.test(name) ? [Number(ROLLOUT_FILE.exec(name)![1])] : []))
    .sort((a, b) => a - b);
}

/**
 * Error for a step without a record: lists the recorded steps, and why a removed one is missing.
 * @param steps those with a record, ascending @param what names the step in the message
 */
export function noRecordOf(dir: string, step: number, steps: readonly number[], what: string): HoneError {
  const record = keptBy(dir);
  const there = steps.length === 0 ? "none" : `${steps.length} between ${steps[0]} and ${steps.at(-1)}`;
  const isGone = step > 0 && step < (steps[0] ?? 0) && typeof record === "string";
  const why = isGone ? `, and was removed: rollouts.record is ${JSON.stringify(record)}` : "";
  return new HoneError("HONE_ERR_USAGE", `${what} is not in the record of ${dir}${why} (it has ${there})`, {
    hint: isGone
      ? "Choose a recorded step; rollouts: { record: true } makes a run record all steps."
      : '`hone rollouts <folder>` lists the recorded steps; a run records with rollouts: { record: "last:20" }, or true for all.',
  });
}

/** The value of `rollouts.record`, as far as run.json can be read. */
function keptBy(dir: string): unknown {
  const config = readRunManifest(dir).config as { rollouts?: { record?: unknown } } | undefined;
  return config?.rollouts?.record;
}

/** Yields the step, then its groups. Throws HONE_ERR_IO; HONE_ERR_FORMAT naming a damaged line. */
export async function* readRolloutRecord(
  dir: string,
  step: number,
): AsyncGenerator<RecordedStep | RecordedGroup, void, undefined> {
  const path = fileOf(dir, step);
  let number = 0;
  for await (const text of textLines(path)) {
    number += 1;
    const line = parseLine(text);
    if (line === undefined || "schema" in line !== (number === 1)) {
      throw new HoneError(
        "HONE_ERR_FORMAT",
        `${path}:${number}: not a line of a rollout record: ${text.slice(0, 80)}`,
      );
    }
    yield line;
  }
}

function parseLine(text: string): RecordedStep | RecordedGroup | undefined {
  try {
    const line = JSON.parse(text) as RecordedStep | RecordedGroup | null;
    if (typeof line !== "object" || line === null) return undefined;
    return "schema" in line
      ? line.schema === 1
        ? line
        : undefined
      : Array.isArray(line.rollouts)
        ? line
        : undefined;
  } catch {
    return undefined;
  }
}

function* recordLines(recipe: Recipe, outcome: StepOutcome): Generator<RecordedStep | RecordedGroup> {
  const { update, batch } = outcome;
  yield stepLine(recipe, outcome);
  let first = 0;
  for (const settled of allGroups(batch)) {
    const kept = settled.group.dropped === undefined && update !== undefined;
    yield groupLine(settled, kept ? new Sequences(recipe, update, first) : undefined);
    if (kept) first += trainedMembers(settled.group).length;
  }
}

function stepLine(
  recipe: Recipe,
  { step, version, versionBefore, batch, update }: StepOutcome,
): RecordedStep {
  const groups = allGroups(batch).length;
  const head = { schema: 1, step: step + 1, versionBefore, version, groups } as const;
  if (update === undefined) return head;
  const { report, data, learningRate, entropyCoef, updates } = update;
  const { muonLr: _, ...objective } = stepOptions(recipe, learningRate, entropyCoef);
  const { seed: __, ...optimizer } = rlOptimizer(recipe);
  return {
    ...head,
    trained: {
      groups: data.groups!,
      sequences: data.sequences,
      tokens: report.trainedTokens / recipe.training.epochs,
      drGrpoNormalizer: data.drGrpoNormalizer!,
      objective,
      optimizer,
      loss: report.loss,
      gradNorm: report.gradNorm,
      skipped: report.skipped,
      ...(updates && { updates }),
    },
  };
}

function groupLine(
  { request, group, rollouts, first }: SettledGroup & Partial<ReplayedGroup>,
  trained: Sequences | undefined,
): RecordedGroup {
  const { problem, submittedVersion, solveRate, dropped } = group;
  const { id, domain, family, level } = problem;
  const scored = new Map(group.rollouts.map((r) => [r.rollout, r] as const));
  const places = new Map(trainedMembers(group).map(({ rollout }, i) => [rollout, i] as const));
  return {
    group: request.group,
    problem: id,
    domain,
    family,
    level,
    submittedVersion,
    solveRate,
    ...(dropped && { dropped }),
    ...(first !== undefined && { first: first + 1 }),
    prompt: rollouts.length > 0 ? encode(rollouts[0]!.promptTokens) : "",
    rollouts: rollouts.map((rollout) => {
      const place = places.get(rollout);
      const trainedAs = place === undefined ? undefined : trained?.place(place);
      return { ...sampled(rollout), ...judged(scored.get(rollout)), ...trainedAs };
    }),
  };
}

function sampled({
  attempt,
  finish,
  tokens,
  logprobs,
  versions,
  oldestKvVersions,
  episode,
  routes,
}: Rollout) {
  const arrays = { tokens: encode(tokens), logprobs: encode(logprobs) };
  const runs = { versions: versionRuns(versions), oldestKv: versionRuns(oldestKvVersions) };
  const parts = {
    ...(episode && { given: givenRuns(episode.given) }),
    ...(routes && { routes: encode(routes.bytes) }),
  };
  return { attempt, finish, ...arrays, ...runs, ...parts };
}

function judged(scored: ScoredRollout | undefined) {
  if (scored === undefined) return { verdict: { status: "unscored", cause: "no verdict" } as const };
  const { verdict, reward, penaltyScale, penalty, advantage, masked } = scored;
  return { verdict, reward, penaltyScale, penalty, advantage, ...(masked !== undefined && { masked }) };
}

/** Places of a kept group's trained rollouts in the batch, from `first` on. */
class Sequences {
  readonly #update: PolicyUpdate;
  readonly #recipe: Recipe;
  readonly #first: number;

  constructor(recipe: Recipe, update: PolicyUpdate, first: number) {
    this.#update = update;
    this.#recipe = recipe;
    this.#first = first;
  }

  place(i: number): Pick<RecordedRollout, "sequence" | "weight" | TokenArray> {
    const { data, rollouts } = this.#update;
    const sequence = this.#first + i;
    const end = data.cuSeqlens[sequence + 1]!;
    const { rollout } = rollouts[sequence]!;
    const response = [end - rollout.tokens.length, end] as const;
    const arrays = tokenArrays(this.#update).flatMap(([name, values]) =>
      values?.length ? [[name, encode(values.subarray(...response))] as const] : [],
    );
    const weight = this.#weight(sequence, sampledTokens(rollout));
    return {
      sequence,
      ...(weight !== undefined && { weight }),
      ...Object.fromEntries(arrays),
    };
  }

  /** Factor, in the update's loss, of the mean over the sequence's tokens (docs/reference/recipe.md). */
  #weight(sequence: number, n: number): number | undefined {
    const { data } = this.#update;
    const { kind, sequenceWeight } = this.#recipe.objective;
    if (kind === "custom") return undefined; // only the custom function knows the weight
    const totals = { ...updateOf(this.#update, sequence), normalizer: data.drGrpoNormalizer! };
    return weightInLoss({ kind, sequenceWeight }, totals, n, data.groupSizes![sequence]!);
  }
}

type TokenArray = "reference" | "teacher" | "divergence" | "tokenWeights" | "tokenPenalties";

/** [T] further arrays of a batch, by the name under which they are recorded. */
const tokenArrays = ({
  data: { referenceLogprobs, tokenWeights, tokenPenalties },
  teacherLogprobs,
  report,
}: PolicyUpdate): (readonly [TokenArray, Float32Array | undefined])[] => [
  ["reference", referenceLogprobs],
  ["teacher", teacherLogprobs],
  ["divergence", report.divergences],
  ["tokenWeights", tokenWeights],
  ["tokenPenalties", tokenPenalties],
];

/** Totals of the update that contains a sequence of the batch; every epoch has equal totals. */
function updateOf({ data, report, updates }: PolicyUpdate, sequence: number) {
  let first = 0;
  for (const update of updates ?? []) {
    if (sequence < first + update.rollouts) return update;
    first += update.rollouts;
  }
  return { groups: data.groups!, sequences: data.sequences, tokens: report.trainedTokens };
}

function writeAll(fd: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length; ) written += writeSync(fd, bytes, written);
}
