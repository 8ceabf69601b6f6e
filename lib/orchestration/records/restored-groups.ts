import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { Episode, Rollout, Routes, ScoredRollout, Verdict } from "../../records.ts";
import { type GroupRequest, ReplayBuffer, type ReplayedGroup, type SettledGroup } from "../pipeline/index.ts";
import { decodeBytes, decodeIds, decodeLogprobs } from "./encoded-arrays.ts";
import { givenOf } from "./logged-episode.ts";
import {
  type RecordedGroup,
  type RecordedRollout,
  type RecordedStep,
  readRolloutRecord,
  recordedSteps,
} from "./rollout-record.ts";
import { expandedRuns } from "./version-runs.ts";

/** A recorded group in the batcher's form, with the record line of each of its rollouts. */
export interface RestoredGroup extends SettledGroup {
  readonly lines: ReadonlyMap<Rollout, RecordedRollout>;
}

/** The request of a recorded group, without the fields that a record lacks. */
export function restoredRequest(recorded: RecordedGroup): GroupRequest {
  const { group, problem, domain, family, level, submittedVersion, rollouts } = recorded;
  return {
    group,
    domain,
    index: 0,
    problem: { id: problem, domain, family, level, question: "", verifier: "", reference: null },
    attempts: rollouts.length,
    submittedVersion,
    submittedMs: 0,
  };
}

/**
 * Recorded rollouts, without texts and entropies, which a record lacks, and with routes if the recipe replays them.
 * Throws HONE_ERR_USAGE if it does and the record has none.
 */
export function restoredRollouts(
  group: RecordedGroup,
  recipe: Recipe,
): Pick<RestoredGroup, "rollouts" | "lines"> {
  const { problem } = restoredRequest(group);
  const promptTokens = decodeIds(group.prompt);
  const lines = new Map<Rollout, RecordedRollout>();
  const rollouts = group.rollouts.map((line) => {
    const tokens = decodeIds(line.tokens);
    const { attempt, finish, given } = line;
    const routes = recipe.objective.router?.replay === true && restoredRoutes(group, line, tokens.length);
    const rollout: Rollout = {
      problem,
      attempt,
      finish,
      promptTokens,
      tokens,
      logprobs: decodeLogprobs(line.logprobs),
      entropies: new Float32Array(tokens.length),
      versions: expandedRuns(line.versions, tokens.length),
      oldestKvVersions: expandedRuns(line.oldestKv, tokens.length),
      text: "",
      submittedMs: 0,
      finishedMs: 0,
      ...(given && { episode: restoredEpisode(given, tokens.length, line.verdict) }),
      ...(routes && { routes }),
    };
    lines.set(rollout, line);
    return rollout;
  });
  return { rollouts, lines };
}

function restoredRoutes(
  { domain, problem, prompt }: RecordedGroup,
  { attempt, routes }: RecordedRollout,
  tokens: number,
): Routes | undefined {
  if (tokens === 0) return undefined;
  if (routes === undefined)
    throw new HoneError(
      "HONE_ERR_USAGE",
      `objective.router.replay is true; the record has no routes of ${domain} problem ${problem}, attempt ${attempt}`,
      {
        hint: "Only runs with objective.router.replay record the experts that tokens went to; leave the setting out.",
      },
    );
  const bytes = decodeBytes(routes);
  return { width: bytes.length / (decodeIds(prompt).length + tokens - 1), bytes };
}

/** A recorded episode, without its text, which the record lacks. */
function restoredEpisode(runs: readonly number[], length: number, verdict: Verdict): Episode {
  const turns = runs.length / 2 + 1;
  return { given: givenOf(runs, length), givenText: [], turns, toolCalls: 0, verdict };
}

/** A group with its recorded rewards and advantages, whether rules, other groups of its step or hooks produced them. */
export function restoredGroup(recorded: RecordedGroup, recipe: Recipe): RestoredGroup {
  const request = restoredRequest(recorded);
  const { rollouts, lines } = restoredRollouts(recorded, recipe);
  const members = [...lines].flatMap(([rollout, line]) => scored(rollout, line));
  const { solveRate, submittedVersion, dropped } = recorded;
  const group = { problem: request.problem, rollouts: members, solveRate, submittedVersion };
  const unscored = recorded.rollouts.flatMap((line) => (line.reward === undefined ? [line.attempt] : []));
  return { request, rollouts, lines, unscored, group: { ...group, ...(dropped && { dropped }) } };
}

function scored(rollout: Rollout, line: RecordedRollout): ScoredRollout[] {
  const { verdict, reward, masked } = line;
  if (reward === undefined || verdict.status === "unscored") return [];
  const { penaltyScale, penalty, advantage } = line as Required<RecordedRollout>;
  const numbers = { reward, penaltyScale, penalty, advantage };
  return [{ rollout, verdict, ...numbers, ...(masked !== undefined && { masked }) }];
}

/**
 * The buffer of a run that resumes after `steps` steps, from the recorded rollouts. Throws HONE_ERR_CHECKPOINT if the
 * record of one of the last `maxAge` steps is missing.
 */
export async function restoredBuffer(dir: string, recipe: Recipe, steps: number): Promise<ReplayBuffer> {
  const { replayBuffer } = recipe.training;
  if (replayBuffer === undefined || steps === 0) return new ReplayBuffer(recipe);
  const groups: ReplayedGroup[] = [];
  const there = new Set(recordedSteps(dir));
  for (let step = Math.max(1, steps - replayBuffer.maxAge + 1); step <= steps; ++step) {
    if (!there.has(step)) throw notRecorded(dir, step, steps);
    groups.push(...(await trainedIn(dir, recipe, step)));
  }
  return new ReplayBuffer(recipe, groups);
}

/** Groups that a step trained first; empty if its update was skipped. */
async function trainedIn(dir: string, recipe: Recipe, step: number): Promise<ReplayedGroup[]> {
  const groups: ReplayedGroup[] = [];
  for await (const line of readRolloutRecord(dir, step)) {
    if ("schema" in line) {
      if ((line as RecordedStep).trained?.skipped !== false) return [];
    } else if (line.dropped === undefined && line.first === undefined)
      groups.push({ ...restoredGroup(line, recipe), first: step - 1 });
  }
  return groups;
}

const notRecorded = (dir: string, step: number, steps: number): HoneError =>
  new HoneError(
    "HONE_ERR_CHECKPOINT",
    `${dir} has no rollout record of step ${step}, whose groups training.replayBuffer needs after step ${steps}`,
    {
      details: { step, steps },
      hint: "Continue from a checkpoint whose last maxAge steps are recorded (--resume <checkpoint>), or leave training.replayBuffer out until maxAge steps with rollouts.record are done.",
    },
  );
