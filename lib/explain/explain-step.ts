import { existsSync } from "node:fs";
import { join } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { defineRecipe, hasFullKl, overrideRecipe, type Recipe, recipeInput } from "../config/index.ts";
import { HoneError } from "../errors.ts";
import { RUN_FILES, RunLogReader } from "../metrics/index.ts";
import type { StepOptions } from "../native/face.ts";
import {
  type BeforeStep,
  type Core,
  customSlopes,
  decodeIds,
  diverged,
  expectRecorded,
  expectSameStep,
  expectSameUpdate,
  openBeforeStep,
  type RecordedGroup,
  type ResettledGroup,
  settleRecorded,
  stepOptions,
} from "../orchestration/index.ts";
import type { Rollout, StepRecord } from "../records.ts";
import type { Trust } from "../trust.ts";
import {
  explainedGroup,
  explainedReward,
  explainedSequence,
  explainedToken,
  type TokenFacts,
} from "./explained-attempt.ts";
import { type ExplainedUpdate, scoreRollout, takeUpdatesBefore } from "./explained-update.ts";
import type { ExplainedSettings, Explanation } from "./explanation.ts";
import { gradientShares } from "./gradient-share.ts";
import { type RecomputedStep, recomputeStep, responseOf, sequenceOf } from "./recomputed-step.ts";

/** The completion and step to explain, and the settings to compare with. */
export interface ExplainOptions {
  /** Step number as in steps.jsonl, from 1. */
  readonly step: number;
  /** Id of the problem in the run. */
  readonly problem: number;
  readonly attempt: number;
  /** Explain only this token of the completion, from 0. */
  readonly token?: number | undefined;
  /** Assignments to the recipe for a second column: fields of reward, lengthPenalty, advantages and objective. */
  readonly set?: readonly string[];
  /** Also measure the attempt's share of the gradient, by three to five further backward passes. */
  readonly gradient?: boolean | undefined;
  readonly core?: Core;
  /** What the folder's record may make this process execute. Default: nothing. */
  readonly trust?: Trust | undefined;
  /** Called with each step that is trained again, from the checkpoint before the explained step up to it. */
  readonly onStep?: ((step: number) => void) | undefined;
}

/** Recipe sections that can be changed without other completions or other weights. */
const CHANGEABLE = ["reward", "lengthPenalty", "advantages", "objective"];

/** Indices of the group in the step and of the rollout in the group. */
interface Target {
  readonly place: number;
  readonly member: number;
}

/**
 * Explains a token's gradient: recomputes the recorded step from its initial weights and compares it with the record,
 * to the bit on the CPU.
 * Throws HONE_ERR_USAGE for a step, problem, attempt or token that is not in the record and for settings that need
 * other completions; HONE_ERR_CHECKPOINT if no checkpoint leads to the step; HONE_ERR_REPLAY if the recomputation
 * differs from the record; HONE_ERR_TRUST if the objective is a module that `trust` does not allow.
 */
export async function explainStep(dir: string, options: ExplainOptions): Promise<Explanation> {
  const { step, core, trust, onStep, set = [] } = options;
  expectChangeable(set);
  const expect = (recorded: readonly RecordedGroup[]) => {
    find(recorded, options);
  };
  await using before = await openBeforeStep(dir, step, { ...(core && { core }), trust, expect, onStep });
  const target = find(before.groups, options);
  const { group, first, problem, domain, family, level } = before.groups[target.place]!;
  const { attempt, finish, verdict } = before.groups[target.place]!.rollouts[target.member]!;
  const update = await updateOf(before, target);
  const settings = [await asTrained(dir, before, target, { update, options })];
  if (set.length > 0) settings.push(await otherwise(before, target, { update, options }));
  const { versionBefore: version } = before.step;
  const { from } = before;
  const whose = {
    group,
    ...(first !== undefined && { first }),
    problem,
    domain,
    family,
    level,
    attempt,
    finish,
    verdict,
  };
  return { run: dir, step, version, from, ...whose, settings };
}

/** Throws HONE_ERR_USAGE. */
function expectChangeable(set: readonly string[]): void {
  for (const assignment of set) {
    const [section = ""] = assignment.split(/[.=]/);
    if (CHANGEABLE.includes(section)) continue;
    throw new HoneError(
      "HONE_ERR_USAGE",
      `--set ${assignment}: hone explain can change only ${CHANGEABLE.join(", ")}`,
      {
        hint: "With other values of other settings the run would have had other completions or weights, which the record does not have.",
      },
    );
  }
}

function find(groups: readonly RecordedGroup[], { step, problem, attempt, token }: ExplainOptions): Target {
  const refuse = (message: string, hint: string): never => {
    throw new HoneError("HONE_ERR_USAGE", message, { hint, details: { step, problem, attempt, token } });
  };
  const seen = `\`hone rollouts <folder> --step ${step}\` lists them.`;
  const there: number[] = [];
  for (const [place, { problem: id, rollouts }] of groups.entries()) {
    if (id !== problem) continue;
    there.push(...rollouts.map((rollout) => rollout.attempt));
    const member = rollouts.findIndex((rollout) => rollout.attempt === attempt);
    if (member < 0) continue;
    const n = decodeIds(rollouts[member]!.tokens).length;
    if (token !== undefined && !(Number.isInteger(token) && token >= 0 && token < n)) {
      const what = `token ${token} is not in attempt ${attempt} of problem ${problem}: it has ${n} tokens, from 0 on`;
      refuse(what, "Without --token all tokens are shown.");
    }
    return { place, member };
  }
  if (there.length === 0) return refuse(`problem ${problem} is not in step ${step}`, seen);
  const what = `attempt ${attempt} of problem ${problem} is not in step ${step}`;
  return refuse(`${what}; its attempts there are ${there.join(", ")}`, seen);
}

/** Options of the trainer in the step. */
const trainedBy = ({ recipe, step }: BeforeStep): StepOptions =>
  step.trained === undefined ? stepOptions(recipe, 0) : { ...step.trained.objective, muonLr: 0 };

/** Trains up to the update that explains the attempt, and returns that update. */
async function updateOf(before: BeforeStep, { place }: Target): Promise<ExplainedUpdate> {
  const { recipe, trainer, teach } = before;
  const groups = settleRecorded(before.groups, recipe, before.hooked);
  expectRecorded(groups, before.groups);
  const slopes = customSlopes(recipe);
  const options = { ...trainedBy(before), ...(slopes && { slopes }) };
  return takeUpdatesBefore(trainer, groups, place, recipe, options, teach);
}

interface Asked {
  readonly update: ExplainedUpdate;
  readonly options: ExplainOptions;
}

/** Explains the attempt under the run's own settings and compares the result with the record. */
async function asTrained(
  dir: string,
  before: BeforeStep,
  target: Target,
  { update, options }: Asked,
): Promise<ExplainedSettings> {
  const { recipe, step, trainer } = before;
  const groups = settleRecorded(before.groups, recipe, before.hooked);
  const taken = groups.slice(update.from, update.to);
  const again = await recomputeStep(trainer, taken, recipe, trainedBy(before), { ...update, ...before });
  if ((again === undefined) !== (step.trained === undefined))
    throw diverged(
      step.step,
      again === undefined ? "was trained in the run, but not now" : "is trained now, but was not in the run",
    );
  if (again !== undefined && update.oldLogprobs !== undefined)
    expectSameUpdate(step, update.number, again.report);
  else if (again !== undefined) {
    expectSameStep(step, again.report);
    expectSameRatios(dir, step.step, again);
  }
  return explained(before, groups, target, { again, recipe, set: [], update, options });
}

/** Compares with steps.jsonl, if the run kept it: the smallest and the largest ratio of a sequence, to the bit. */
function expectSameRatios(dir: string, step: number, { terms }: RecomputedStep): void {
  const log = join(dir, RUN_FILES.log);
  const metrics = existsSync(log) ? metricsOf(new RunLogReader(log), step) : undefined;
  const ratios = terms.filter(({ tokens }) => tokens.length > 0).map(({ ratio }) => ratio);
  for (const [name, here] of [
    ["ratio/min", Math.min(...ratios)],
    ["ratio/max", Math.max(...ratios)],
  ] as const) {
    const then = metrics?.[name];
    if (then !== undefined && then !== here) throw diverged(step, `has ${name} ${here}, in the run ${then}`);
  }
}

function metricsOf(log: RunLogReader, step: number): StepRecord["metrics"] | undefined {
  for (const record of log) if (record.step === step) return record.metrics;
  return undefined;
}

/** Explains the recorded attempt under other settings, with the weights before the step. */
async function otherwise(
  before: BeforeStep,
  target: Target,
  { update, options }: Asked,
): Promise<ExplainedSettings> {
  const set = options.set ?? [];
  const recipe = overrideRecipe(withoutSlopes(before.recipe, set), set);
  expectOwnSlopes(before.recipe, recipe);
  expectOwnTokens(before.recipe, recipe);
  expectOwnReference(before.recipe, recipe);
  const groups = settleRecorded(before.groups, recipe, before.hooked);
  const taken = groups.slice(update.from, update.to);
  const again = await recomputeStep(
    before.trainer,
    taken,
    recipe,
    stepOptions(recipe, 0, coefOf(before, recipe)),
    { ...update, ...before },
  );
  return explained(before, groups, target, { again, recipe, set, update, options });
}

/**
 * Throws HONE_ERR_UNSUPPORTED for the module of another custom objective: otherwise a user of the run's page could
 * import any file of the machine.
 */
function expectOwnSlopes({ objective: own }: Recipe, { objective: { slopes } }: Recipe): void {
  if (slopes === undefined || isDeepStrictEqual(slopes, own.slopes)) return;
  const name = "module" in slopes ? slopes.module : slopes.function;
  throw new HoneError(
    "HONE_ERR_UNSUPPORTED",
    `--set asks for the custom objective ${name}, which is not the run's`,
    {
      hint: "--set may change the bounds of the run's own objective, or choose a built-in objective.",
    },
  );
}

/** Coefficient of the entropy bonus; under entropy control, the value that the run had reached in this step. */
function coefOf({ step }: BeforeStep, { objective: { entropyControl, entropyCoef } }: Recipe): number {
  return (entropyControl && step.trained?.objective.entropyCoef) ?? entropyCoef;
}

/** Throws HONE_ERR_USAGE for a different rule of token selection: the record has the results of the run's own rule. */
function expectOwnTokens({ objective: own }: Recipe, { objective: { tokens } }: Recipe): void {
  if (tokens === undefined || isDeepStrictEqual(tokens, own.tokens)) return;
  throw new HoneError(
    "HONE_ERR_USAGE",
    `--set asks for objective.tokens "${tokens.kind}", which is not the run's`,
    {
      hint: "A rule compares all tokens of a step; the record has only the result of the run's own rule.",
    },
  );
}

/** Throws HONE_ERR_USAGE for distributions of the reference that the run did not compare with. */
function expectOwnReference({ objective: own }: Recipe, { objective }: Recipe): void {
  if (!hasFullKl(objective) || (hasFullKl(own) && objective.klTopK === own.klTopK)) return;
  const asked = `--set asks for klEstimator "full" with klTopK ${objective.klTopK ?? "of all tokens"}`;
  const run = hasFullKl(own) ? `klTopK ${own.klTopK ?? "of all tokens"}` : `klEstimator "${own.klEstimator}"`;
  throw new HoneError("HONE_ERR_USAGE", `${asked}; the run has ${run}`, {
    hint: "The record has the reference's log-probs of sampled tokens: k1, k2 and k3 can be asked for.",
  });
}

/** Replaces a custom objective by a built-in one: the one that `set` names, otherwise one that supports a teacher. */
function withoutSlopes(recipe: Recipe, set: readonly string[]): Recipe {
  const kind = set.findLast((assignment) => assignment.startsWith("objective.kind="));
  if (recipe.objective.kind !== "custom" || kind === undefined || kind.endsWith("=custom")) return recipe;
  const { objective, ...input } = recipeInput(recipe);
  return defineRecipe({ ...input, objective: { ...objective, kind: "gspo-token", slopes: undefined } });
}

interface Basis {
  readonly again: RecomputedStep | undefined;
  readonly recipe: Recipe;
  readonly set: readonly string[];
  readonly update: ExplainedUpdate;
  readonly options: ExplainOptions;
}

async function explained(
  before: BeforeStep,
  groups: readonly ResettledGroup[],
  { place, member: index }: Target,
  { again, recipe, set, update, options }: Basis,
): Promise<ExplainedSettings> {
  const group = explainedGroup(groups[place]!, recipe);
  const rollout = groups[place]!.rollouts[index]!;
  const member = groups[place]!.group.rollouts.find((scored) => scored.rollout === rollout);
  const sequence = again && sequenceOf(again.batch, rollout);
  const terms = sequence === undefined ? undefined : again!.terms[sequence];
  const now =
    sequence === undefined
      ? await scoreRollout(before.trainer, rollout, before.recipe.rollouts.temperature)
      : again!.report.logprobs.subarray(...responseOf(again!.batch, sequence));
  const textOf = (id: number) => before.model.tokenizer.decode([id]);
  const divergences =
    sequence !== undefined && again!.report.divergences.length > 0
      ? again!.report.divergences.subarray(...responseOf(again!.batch, sequence))
      : undefined;
  const facts: TokenFacts = { rollout, version: before.step.versionBefore, now, textOf, divergences };
  const places = options.token === undefined ? [...rollout.tokens.keys()] : [options.token];
  const corrected = recipe.objective.correction.kind !== "none";
  const measures = options.gradient === true && sequence !== undefined && !again!.report.skipped;
  return {
    set,
    objective: recipe.objective,
    ...(again && { step: stepOf(again, update) }),
    group,
    ...(member && {
      reward: explainedReward(member, worthOf(before, place, rollout, recipe), group, recipe),
    }),
    ...(terms && { sequence: explainedSequence(sequence!, terms, again!.options) }),
    tokens: places.map((t) => explainedToken(facts, t, terms, corrected)),
    ...(measures && { gradient: await gradientShares(before.trainer, again!, sequence, options.token) }),
  };
}

/** R: the reward that the rollout has without a length penalty. */
function worthOf(before: BeforeStep, place: number, { attempt }: Rollout, recipe: Recipe): number {
  const plain = { ...recipe, lengthPenalty: { ...recipe.lengthPenalty, kind: "none" as const } };
  const { first: _, ...group } = before.groups[place]!;
  const [settled] = settleRecorded([group], plain, {});
  return settled!.group.rollouts.find(({ rollout }) => rollout.attempt === attempt)!.reward;
}

function stepOf(
  { batch: { data }, report }: RecomputedStep,
  { number, of, oldLogprobs }: ExplainedUpdate,
): NonNullable<ExplainedSettings["step"]> {
  const { loss, gradNorm, gradScale, trainedTokens } = report;
  return {
    ...(oldLogprobs && { update: { number, of } }),
    sequences: data.sequences,
    groups: data.groups!,
    tokens: trainedTokens,
    loss,
    gradNorm,
    gradScale,
  };
}
