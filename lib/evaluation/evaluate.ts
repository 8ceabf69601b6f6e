import { setMaxListeners } from "node:events";
import type { ProblemSource } from "../data/index.ts";
import { EnvironmentPartner, type Play, playEpisode, turnBudget } from "../episodes/index.ts";
import { HoneError } from "../errors.ts";
import type { GenerationRequest, SamplingOptions } from "../native/face.ts";
import type { Completion, Generations } from "../native/generations.ts";
import {
  type DomainName,
  type Episode,
  type FinishReason,
  type Problem,
  type Prompt,
  sampledTokens,
  type Verdict,
} from "../records.ts";
import type { VerifierPool } from "../rewards/index.ts";
import type { PromptFormat } from "../text/index.ts";

/** Weights of one version on a separate engine, with prompts and verifiers. */
export interface PolicyUnderTest {
  readonly version: number;
  readonly generations: Generations;
  readonly model: { readonly format: PromptFormat };
  readonly sources: ReadonlyMap<DomainName, ProblemSource>;
  /** Validation sets by name, asked after the domains. */
  readonly sets?: ReadonlyMap<string, ValidationSet>;
  readonly verifiers: Pick<VerifierPool, "verify">;
  /** Environments and limits of the domains and validation sets that are played in several turns. */
  readonly plays?: ReadonlyMap<DomainName, Play>;
  readonly recipe: {
    readonly rollouts: {
      readonly maxOutputTokens: number;
      readonly maxPromptTokens: number;
      readonly stopStrings: readonly string[];
      /** Default: true. */
      readonly maskPadding?: boolean | undefined;
    };
  };
}

/** A validation set; absent fields have the plan's values for the domains. */
interface ValidationSet {
  readonly source: ProblemSource;
  readonly problems?: number | undefined;
  readonly attempts?: number | undefined;
  readonly maxTokens?: number | undefined;
}

/** Settings of an evaluation on held-out problems. */
export interface EvaluationPlan {
  /** Number of held-out problems per domain, from the first on; all of a domain's if it has fewer. */
  readonly problemsPerDomain: number;
  /** Completions per problem. */
  readonly attempts: number;
  readonly temperature: number;
  readonly topP: number;
  /** Budget of an answer; default: rollouts.maxOutputTokens. */
  readonly maxTokens?: number | undefined;
  readonly signal?: AbortSignal;
  /** Called for the answers to a problem that got no verdict, with a cause each; they are left out. */
  readonly onUnscored?: (problem: Problem, causes: readonly string[], set?: string) => void;
  /** Called for every problem with all answers to it and their verdicts. */
  readonly onAnswers?: ((asked: AskedProblem, answers: readonly JudgedAnswer[]) => void) | undefined;
  /** Called with the number of problems that are done. */
  readonly onProgress?: (done: number, total: number) => void;
}

/** A held-out problem, and its validation set, if any. */
export type AskedProblem = Pick<ProblemResult, "problem" | "set">;

export interface JudgedAnswer {
  readonly attempt: number;
  readonly text: string;
  readonly finish: FinishReason;
  /** Number of sampled tokens. */
  readonly tokens: number;
  readonly verdict: Verdict;
}

/** Results of one held-out problem. Arrays have one entry per judged attempt. */
export interface ProblemResult {
  readonly problem: Problem;
  /** Name of the problem's validation set; absent for a held-out problem of a domain. */
  readonly set?: string;
  /** Scores in [0, 1], without length penalty. */
  readonly scores: readonly number[];
  readonly correct: readonly boolean[];
  readonly tokens: readonly number[];
  readonly truncated: readonly boolean[];
}

/**
 * Asks a pinned policy the held-out problems of every domain and validation set and judges the answers. Deterministic: completions are
 * keyed by (run seed, problem, attempt). Completions without a verdict are left out, and so are problems without any
 * verdict.
 */
export async function evaluate(policy: PolicyUnderTest, plan: EvaluationPlan): Promise<ProblemResult[]> {
  plan.signal?.throwIfAborted(); // before any request is sent
  const prompts = questionsOf(policy, plan);
  let done = 0;
  const results = prompts.map(async (question, id) => {
    const result = await askOne(policy, plan, question, id);
    done += 1;
    plan.onProgress?.(done, prompts.length);
    return result;
  });
  const all = await unlessAborted(Promise.all(results), plan.signal, () => policy.generations.abandon());
  return all.filter(({ scores }) => scores.length > 0);
}

interface Question extends Prompt {
  readonly set?: string;
  readonly attempts: number;
  readonly maxTokens: number;
}

function questionsOf(policy: PolicyUnderTest, plan: EvaluationPlan): Question[] {
  const { maxOutputTokens } = policy.recipe.rollouts;
  const { problemsPerDomain, attempts, maxTokens = maxOutputTokens } = plan;
  const asked = (set: ValidationSet, name?: string): Question[] =>
    [...heldOutPrompts(set.source, policy, set.problems ?? problemsPerDomain)].map((prompt) => ({
      ...prompt,
      ...(name !== undefined && { set: name }),
      attempts: set.attempts ?? attempts,
      maxTokens: set.maxTokens ?? maxTokens,
    }));
  return [
    ...[...policy.sources.values()].flatMap((source) => asked({ source })),
    ...[...(policy.sets ?? [])].flatMap(([name, set]) => asked(set, name)),
  ];
}

/** Upper bound of the number of problems in a plan. */
export function problemsAsked(
  { sources, sets = new Map() }: Pick<PolicyUnderTest, "sources" | "sets">,
  problemsPerDomain: number,
): number {
  const each = [
    ...[...sources.values()].map((source) => ({ source, problems: problemsPerDomain })),
    ...[...sets.values()].map(({ source, problems = problemsPerDomain }) => ({ source, problems })),
  ];
  return each.reduce(
    (sum, { source, problems }) => sum + Math.min(problems, source.heldOutCount ?? problems),
    0,
  );
}

/** The search ends after this many consecutive held-out problems that cannot be prompted: this is not chance. */
const MOST_PASSED_OVER = 1000;

/** The first `count` held-out problems that can be prompted; skips those too long for a prompt, as in training. */
function* heldOutPrompts(
  source: ProblemSource,
  { model: { format }, recipe }: PolicyUnderTest,
  count: number,
): Generator<Prompt> {
  const end = source.heldOutCount ?? Number.POSITIVE_INFINITY;
  for (let index = 0, found = 0, misses = 0; found < count && index < end; index++) {
    const problem = source.heldOut(index);
    const tokens = spelled(format, problem);
    if (tokens !== undefined && tokens.length <= recipe.rollouts.maxPromptTokens) {
      yield { problem, tokens };
      found += 1;
      misses = 0;
    } else if (++misses === MOST_PASSED_OVER) {
      throw new HoneError(
        "HONE_ERR_DATA",
        `${source.domain}: ${misses} held-out problems in a row cannot be prompted; rollouts.maxPromptTokens is ${recipe.rollouts.maxPromptTokens}, and the last prompt ${tokens === undefined ? "cannot be encoded" : `has ${tokens.length} tokens`}`,
      );
    }
  }
}

function spelled(format: PromptFormat, problem: Problem): Int32Array | undefined {
  try {
    return format.prompt(problem);
  } catch (error) {
    if (HoneError.is(error) && error.code === "HONE_ERR_DATA") return undefined;
    throw error;
  }
}

/** Rejects with the signal's reason as soon as the signal aborts, after it has told the work to stop. */
async function unlessAborted<T>(
  work: Promise<T>,
  signal: AbortSignal | undefined,
  stop: () => void,
): Promise<T> {
  if (signal === undefined) return work;
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => {
      stop();
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

async function askOne(
  policy: PolicyUnderTest,
  plan: EvaluationPlan,
  { problem, tokens: prompt, set, attempts, maxTokens }: Question,
  id: number,
): Promise<ProblemResult> {
  const { recipe } = policy;
  const { format } = policy.model;
  const { temperature, topP } = plan;
  const { vocabulary } = format;
  const sampling: SamplingOptions = {
    temperature,
    topP,
    ...(recipe.rollouts.maskPadding !== false && { vocabulary }),
  };
  const request = {
    id,
    prompt,
    count: attempts,
    problem: problem.id,
    firstAttempt: 0,
    sampling,
    maxTokens,
    stopIds: format.stopIds,
    stopStrings: recipe.rollouts.stopStrings,
  };
  const of = { problem, ...(set !== undefined && { set }) };
  const play = policy.plays?.get(set ?? problem.domain);
  if (play !== undefined)
    return judge(policy, plan, of, await playAll(policy, plan, request, { play, problem }));
  const completions = await policy.generations.generate(request);
  const read = completions.map((completion) => ({ completion, ...format.read(completion.tokens) }));
  return judge(policy, plan, of, read);
}

const NEVER = new AbortController().signal;

/** Plays every attempt at an episode; requests the first turns of all of them at once. */
async function playAll(
  { generations, model: { format } }: PolicyUnderTest,
  { signal = NEVER }: EvaluationPlan,
  request: GenerationRequest,
  { play, problem }: { readonly play: Play; readonly problem: Problem },
): Promise<Answer[]> {
  const turns = format.turns();
  setMaxListeners(0, signal); // every call of an environment adds a listener
  const { maxTokens } = request;
  const firsts = await generations.generate({ ...request, maxTokens: turnBudget(play, maxTokens) });
  const played = firsts.map((first) => {
    const partner = new EnvironmentPartner({ play, problem, format, turns, closing: signal });
    const task = { request, maxTokens, attempt: first.attempt, partner };
    return playEpisode(first, task, play, { generations, format });
  });
  return Promise.all(played);
}

/** Text of the completion; for an episode the transcript with the environment's messages. */
interface Answer {
  readonly completion: Completion;
  readonly text: string;
  readonly episode?: Episode;
}

async function judge(
  policy: PolicyUnderTest,
  plan: EvaluationPlan,
  of: AskedProblem,
  answers: readonly Answer[],
): Promise<ProblemResult> {
  const { problem, set } = of;
  const verdicts = await policy.verifiers.verify(
    answers.map(({ completion: { finish, tokens }, text, episode }) => ({
      problem,
      finish,
      text,
      tokens,
      ...(episode && { episode }),
    })),
  );
  const all = answers.map(({ completion, text, episode }, i) => ({
    attempt: completion.attempt,
    text,
    finish: completion.finish,
    tokens: sampledTokens({ ...completion, episode }),
    verdict: verdicts[i]!,
  }));
  plan.onAnswers?.(of, all);
  const judged = all.flatMap(({ verdict, ...one }) =>
    verdict.status === "unscored" ? [] : [{ ...one, verdict }],
  );
  const causes = verdicts.flatMap((verdict) => (verdict.status === "unscored" ? [verdict.cause] : []));
  if (causes.length > 0) plan.onUnscored?.(problem, causes, set);
  return {
    ...of,
    scores: judged.map(({ verdict }) => verdict.score),
    correct: judged.map(({ verdict }) => verdict.status === "correct"),
    tokens: judged.map(({ tokens }) => tokens),
    truncated: judged.map(({ finish }) => finish === "length"),
  };
}
