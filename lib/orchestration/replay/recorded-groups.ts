import type { Recipe } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import type { StepOptions } from "../../native/face.ts";
import type { Rollout, Verdict } from "../../records.ts";
import {
  type AssembledBatch,
  assembleBatch,
  type BatchUpdates,
  given,
  rewarded,
  settle,
  shapingOptions,
  taughtBatch,
  weighed,
} from "../pipeline/index.ts";
import {
  decodeLogprobs,
  type RecordedGroup,
  type RecordedRollout,
  type RestoredGroup,
  restoredGroup,
  restoredRequest,
  restoredRollouts,
} from "../records/index.ts";

/** A recorded group in the batcher's form, with the record line of each of its rollouts. */
export type ResettledGroup = RestoredGroup;

/** Values that hooks set instead of the recipe's, by group. */
export interface Hooked {
  readonly rewards?: ReadonlyMap<number, readonly number[]>;
  readonly advantages?: ReadonlyMap<number, readonly number[]>;
}

/**
 * The recorded groups of a step with rewards, advantages and filter recomputed under `recipe`, from the recorded
 * verdicts and lengths; a group that a hook dropped stays dropped, and the rewards and advantages of a hook stay in
 * place. Replayed groups keep the recorded rewards and advantages of their first step. Throws HONE_ERR_USAGE if the
 * recipe replays routes that the record lacks.
 */
export function settleRecorded(
  groups: readonly RecordedGroup[],
  recipe: Recipe,
  hooked: Hooked,
): ResettledGroup[] {
  const fresh = groups.filter(({ first }) => first === undefined);
  const settled = weighed(
    fresh.map((recorded) => settledAgain(recorded, recipe, hooked)),
    shapingOptions(recipe),
  );
  const weights = given(settled, hooked.advantages ?? new Map());
  const places = new Map(fresh.map((recorded, i) => [recorded, weights[i]!]));
  return groups.map((recorded) => places.get(recorded) ?? restoredGroup(recorded, recipe));
}

function settledAgain(recorded: RecordedGroup, recipe: Recipe, hooked: Hooked): ResettledGroup {
  const shaping = shapingOptions(recipe);
  const { rollouts, lines } = restoredRollouts(recorded, recipe);
  const verdicts = recorded.rollouts.map(({ verdict }): Verdict => verdict);
  const judged = settle(restoredRequest(recorded), rollouts, verdicts, shaping);
  const rewards = hooked.rewards?.get(recorded.group);
  const kept = judged.group.dropped === undefined;
  const settled = rewards !== undefined && kept ? rewarded(judged, rewards, shaping) : judged;
  const { dropped } = recorded;
  const byHook = dropped === "hook" || dropped === "abort";
  return { ...settled, lines, ...(byHook && { group: { ...settled.group, dropped } }) };
}

/**
 * The batch of these groups, with the recorded log-probs of the reference policy if `klCoef` needs them, those of the
 * teacher, and the results of `objective.tokens`. Throws HONE_ERR_USAGE if the record lacks them for a rollout.
 */
export function recordedBatch(
  groups: readonly ResettledGroup[],
  { rollouts: { maxOutputTokens }, objective: { klCoef, kind, tokens }, teacher }: Recipe,
): AssembledBatch {
  const batch = assembleBatch(groups, maxOutputTokens);
  const lines = new Map(groups.flatMap((group) => [...group.lines]));
  const taught =
    teacher === undefined
      ? batch
      : taughtBatch(
          batch,
          { logprobs: recordedScores(batch, lines, "teacher", "the recipe has a teacher") },
          teacher,
        );
  const of = (name: RecordedArray, why: string) => recordedScores(batch, lines, name, why);
  const data = {
    ...taught.data,
    ...(klCoef !== 0 && { referenceLogprobs: of("reference", `objective.klCoef is ${klCoef}`) }),
    ...(kind === "custom" &&
      hasWeights(lines) && { tokenWeights: of("tokenWeights", "its objective weighs tokens") }),
    ...(tokens && { [selectedBy(tokens)]: of(selectedBy(tokens), `objective.tokens is ${tokens.kind}`) }),
  };
  return { ...taught, data };
}

/** True for a custom objective with a first pass. */
const hasWeights = (lines: ReadonlyMap<Rollout, RecordedRollout>): boolean =>
  [...lines.values()].some(({ tokenWeights }) => tokenWeights !== undefined);

type RecordedArray = "reference" | "teacher" | "tokenWeights" | "tokenPenalties";

const selectedBy = ({ kind }: NonNullable<Recipe["objective"]["tokens"]>) =>
  kind === "kl-cov" ? "tokenPenalties" : "tokenWeights";

/** [T] of a batch's tokens: log-probs under a frozen policy, or a rule's weights. @param why they are needed, for the error */
function recordedScores(
  { data, rollouts }: AssembledBatch,
  lines: ReadonlyMap<Rollout, RecordedRollout>,
  name: RecordedArray,
  why: string,
): Float32Array {
  const logprobs = new Float32Array(data.tokens.length);
  for (const [i, { rollout }] of rollouts.entries()) {
    const recorded = lines.get(rollout)![name];
    const { problem, attempt, tokens } = rollout;
    if (recorded === undefined) {
      throw new HoneError(
        "HONE_ERR_USAGE",
        `${why}; the record has no ${name === "reference" || name === "teacher" ? `${name} log-probs` : name} of ${problem.domain} problem ${problem.id}, attempt ${attempt}`,
        {
          hint: "A run records them if its recipe uses them, for the rollouts that it trained on; leave that setting out.",
        },
      );
    }
    logprobs.set(decodeLogprobs(recorded), data.cuSeqlens[i + 1]! - tokens.length);
  }
  return logprobs;
}

/** Inputs of a step's updates from recorded groups. Throws the errors of recordedBatch. */
export const batchUpdates = (
  groups: readonly ResettledGroup[],
  recipe: Recipe,
  options: StepOptions,
): BatchUpdates => ({
  groups,
  whole: recordedBatch(groups, recipe),
  options,
  rule: recipe.training,
  maxOutputTokens: recipe.rollouts.maxOutputTokens,
});

/** Throws HONE_ERR_REPLAY naming the first rollout whose reward or advantage differs from the record. */
export function expectRecorded(groups: readonly ResettledGroup[], recorded: readonly RecordedGroup[]): void {
  for (const [i, { group, lines }] of groups.entries()) {
    const { group: ordinal, dropped, domain } = recorded[i]!;
    const refuse = (what: string): never => {
      throw new HoneError("HONE_ERR_REPLAY", `group ${ordinal} (${domain}): ${what}`, {
        details: { group: ordinal, domain },
        hint: "Record and recipe belong to different versions of Hone, or one of them was altered.",
      });
    };
    if (group.dropped !== dropped) refuse(`${dropped ?? "kept"} in the run, ${group.dropped ?? "kept"} here`);
    for (const { rollout, reward, penaltyScale, penalty, advantage } of group.rollouts) {
      const line = lines.get(rollout)!;
      for (const [name, here] of Object.entries({ reward, penaltyScale, penalty, advantage })) {
        const then = line[name as "reward" | "penaltyScale" | "penalty" | "advantage"];
        if (then !== here) refuse(`attempt ${line.attempt} has the ${name} ${here}, in the record ${then}`);
      }
    }
  }
}
