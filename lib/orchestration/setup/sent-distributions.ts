import { hasFullKl, type Recipe, rolesOf } from "../../config/index.ts";
import { HoneError } from "../../errors.ts";
import { modelFacts } from "../../inference/index.ts";
import type { ModelConfigJson } from "../../native/face.ts";

/** Limit for one message to training processes (lib/streams/socket/frames.ts), minus the rest of a step's data. */
const MOST_BYTES = 2 ** 30 - 2 ** 26;

/** Checks a teacher or reference whose config.json is `config`: training processes receive its scores. */
export function expectSentTeacher(recipe: Recipe, config: ModelConfigJson): void {
  const { divergence } = recipe.teacher ?? {};
  if (divergence !== undefined) expectSent(recipe, config, "teacher.divergence", divergence.topK);
}

export function expectSentReference(recipe: Recipe, config: ModelConfigJson): void {
  const { objective } = recipe;
  if (hasFullKl(objective)) expectSent(recipe, config, "objective.klEstimator", objective.klTopK);
}

/**
 * Separate training processes receive a step's whole distributions in one message, and also the head that reads
 * hidden states. Throws HONE_ERR_CONFIG if a message may be too long.
 */
function expectSent(recipe: Recipe, config: ModelConfigJson, field: string, topK?: number): void {
  if ((rolesOf(recipe)?.trainers ?? 0) === 0) return;
  const { width, vocabulary } = modelFacts(config);
  const { training, rollouts } = recipe;
  const groups = Math.ceil(training.groupsPerStep / (1 - (training.replayBuffer?.share ?? 0)));
  const tokens = groups * rollouts.groupSize * rollouts.maxOutputTokens;
  const head = topK === undefined ? 4 * vocabulary * width : 0;
  const step = 4 * tokens * (topK === undefined ? width : 2 * topK);
  if (Math.max(head, step) <= MOST_BYTES) return;
  const mib = (bytes: number) => `${Math.ceil(bytes / 2 ** 20)} MiB`;
  const what =
    head > MOST_BYTES ? `a head of ${mib(head)}` : `up to ${mib(step)} of a step of ${tokens} tokens`;
  const fewer = "training.groupsPerStep, rollouts.groupSize or rollouts.maxOutputTokens";
  throw new HoneError(
    "HONE_ERR_CONFIG",
    `${field}: ${what} would be sent to the processes that train, and a message has 1 GiB at most`,
    {
      hint:
        topK === undefined
          ? `Give ${field === "teacher.divergence" ? `${field}.topK` : "objective.klTopK"}, or let this process train (hardware.processes.trainers: 0, or one GPU).`
          : `Lower it, or ${fewer}.`,
    },
  );
}
