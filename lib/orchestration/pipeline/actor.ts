import type { Clock } from "../../clock.ts";
import type { Recipe } from "../../config/index.ts";
import { type PlayedEpisode, turnBudget } from "../../episodes/index.ts";
import type { GenerationRequest, SamplingOptions } from "../../native/face.ts";
import type { Generations } from "../../native/generations.ts";
import type { Prompt, Rollout } from "../../records.ts";
import { Channel } from "../../shared/async/channel.ts";
import type { PromptFormat } from "../../text/index.ts";
import { type EpisodeStage, playAttempt } from "./episode-stage.ts";
import type { GroupRequest, UnfinishedGroups } from "./group-request.ts";
import type { RequestedPrompt } from "./requested-prompts.ts";

/** All rollouts of a group, in the order of attempts. */
export interface GroupRollouts {
  readonly request: GroupRequest;
  readonly rollouts: readonly Rollout[];
}

export interface ActorOptions {
  readonly sampling: SamplingOptions;
  readonly maxOutputTokens: number;
  readonly stopStrings: readonly string[];
  readonly format: PromptFormat;
  readonly clock: Clock;
  /** Called with the number of tokens of each completed group. */
  readonly onTokens?: (count: number) => void;
  /** Stores the tokens of groups in progress. */
  readonly unfinished?: UnfinishedGroups | undefined;
  /** Replay: the versions each attempt of a group is to be sampled with. */
  readonly plan?: (request: GroupRequest) => GenerationRequest["plan"];
  /** Environments that answer the policy between turns, for domains that have one. */
  readonly episodes?: EpisodeStage;
}

/** The actor's options from the recipe; episodes are passed separately. */
export function actorOptions(
  { rollouts }: Recipe,
  format: PromptFormat,
  clock: Clock,
): Omit<ActorOptions, "episodes"> {
  const { temperature, topK, topP, minP, maxOutputTokens, stopStrings, maskPadding } = rollouts;
  const { vocabulary } = format;
  const sampling = { temperature, topK, topP, minP, ...(maskPadding !== false && { vocabulary }) };
  return { sampling, maxOutputTokens, stopStrings, format, clock };
}

/**
 * Submits every prompt as soon as it arrives and yields each group after its last attempt. Ends after the last
 * prompt's group.
 */
export async function* generateRollouts(
  prompts: AsyncIterable<RequestedPrompt>,
  generations: Generations,
  options: ActorOptions,
): AsyncGenerator<GroupRollouts, void, undefined> {
  const groups = new Channel<GroupRollouts>();
  void submitAll(prompts, generations, options, groups);
  try {
    yield* groups;
  } finally {
    generations.abandon();
  }
}

async function submitAll(
  prompts: AsyncIterable<RequestedPrompt>,
  generations: Generations,
  options: ActorOptions,
  groups: Channel<GroupRollouts>,
): Promise<void> {
  let outstanding = 0;
  let submitting = true;
  const deliver = (group: GroupRollouts) => {
    options.onTokens?.(group.rollouts.reduce((n, r) => n + r.tokens.length, 0));
    groups.push(group);
    outstanding -= 1;
    if (outstanding === 0 && !submitting) groups.end();
  };
  try {
    for await (const prompt of prompts) {
      outstanding += 1;
      submitGroup(prompt, generations, options, { deliver, fail: (error) => groups.fail(error) });
    }
    submitting = false;
    if (outstanding === 0) groups.end();
  } catch (error) {
    groups.fail(error);
  }
}

/**
 * Submits all attempts at a prompt; the engine has the request when this returns. Throws what
 * `Generations.submit` throws.
 * @param to called once: with the group after its last attempt, or with the engine's failure.
 */
export function submitGroup(
  { request, prompt }: RequestedPrompt,
  generations: Generations,
  options: ActorOptions,
  to: { deliver(group: GroupRollouts): void; fail(error: Error): void },
): void {
  const rollouts: Rollout[] = [];
  const add = (rollout: Rollout) => {
    rollouts.push(rollout);
    if (rollouts.length < request.attempts) return;
    to.deliver({ request, rollouts: rollouts.sort((a, b) => a.attempt - b.attempt) });
  };
  const asked = generationRequest(request, prompt, options);
  const play = options.episodes?.plays.get(request.domain);
  generations.submit(play ? { ...asked, maxTokens: turnBudget(play, asked.maxTokens) } : asked, {
    deliver: (completions) => {
      for (const completion of completions) {
        if (play === undefined)
          add(toRollout({ completion, ...options.format.read(completion.tokens) }, request, prompt, options));
        else
          playAttempt(
            completion,
            { play, stage: options.episodes!, request, asked },
            { generations, format: options.format },
          )
            .then((played) => add(toRollout(played, request, prompt, options)))
            .catch((error: Error) => to.fail(error));
      }
    },
    record: (_, tokens) => {
      try {
        options.unfinished?.add(request, tokens);
      } catch (error) {
        to.fail(error as Error);
      }
    },
    fail: (error) => to.fail(error),
  });
}

function generationRequest(request: GroupRequest, prompt: Prompt, options: ActorOptions): GenerationRequest {
  const plan = options.plan?.(request);
  return {
    id: request.group,
    prompt: prompt.tokens,
    count: request.attempts,
    problem: request.problem.id,
    firstAttempt: 0,
    sampling: options.sampling,
    maxTokens: options.maxOutputTokens,
    stopIds: options.format.stopIds,
    stopStrings: options.stopStrings,
    ...(plan && { plan }),
    ...(request.begun && { begun: request.begun }),
    ...(options.unfinished && { recordEveryTokens: options.unfinished.everyTokens }),
  };
}

type Sampled = Pick<PlayedEpisode, "completion" | "text" | "textless"> & Partial<PlayedEpisode>;

function toRollout(
  { completion, text, textless, episode }: Sampled,
  request: GroupRequest,
  prompt: Prompt,
  options: ActorOptions,
): Rollout {
  const { tokens, logprobs, entropies, versions, oldestKvVersions, routes, attempt, finish } = completion;
  return {
    problem: request.problem,
    attempt,
    promptTokens: prompt.tokens,
    tokens,
    logprobs,
    entropies,
    versions,
    oldestKvVersions,
    ...(routes && { routes }),
    finish,
    text,
    ...(textless > 0 && { textlessTokens: textless }),
    ...(episode && { episode }),
    submittedMs: request.submittedMs,
    finishedMs: options.clock.now(),
  };
}
