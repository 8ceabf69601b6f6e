import type { ProblemSource } from "../data/index.ts";
import type { CounterRandom } from "../random.ts";
import type { FinishReason, Problem } from "../records.ts";
import type { Rewarded } from "./reward.ts";

/** A call of a tool that a message of the policy makes, by the chat template's own way to write one. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** What the policy said in one turn. */
export interface TurnMessage {
  /** Of the episode, from 0. */
  readonly turn: number;
  /** The whole turn with special tokens spelled, thought included; without the token that ended it. */
  readonly text: string;
  /** What follows the thought, trimmed; empty where a thought never ends. */
  readonly answer: string;
  readonly calls: readonly ToolCall[];
  /** Why something that looks like a call could not be read; absent where nothing does. */
  readonly malformed?: string;
}

/** What the policy reads next, or that the episode is over. */
export type TurnOutcome = { readonly observation: string } | { readonly done: true };

/** Who asks: aborted at the time limit of the call, and when the run ends without waiting. */
export interface EnvironmentCall {
  readonly signal: AbortSignal;
}

/** What an episode is about. */
export type EpisodeProblem = Pick<Problem, "id" | "question" | "reference" | "family" | "level">;

/** What an expert knows when it is its turn: what a policy would, and the problem with its reference. */
export interface ExpertTurn {
  /** From 0. */
  readonly turn: number;
  /** Messages of the episode at most. */
  readonly maxTurns: number;
  /** Its own messages as the environment read them, oldest first. */
  readonly messages: readonly string[];
  /** What the environment said to each of them. */
  readonly observations: readonly string[];
  /** Whether this message should be a poor one: `warmStart.wrongRate` of them, so that there is something left to learn. */
  readonly careless: boolean;
  /** Of this message alone: the same in every run with the same seed. */
  readonly random: CounterRandom;
}

/** A message as it is, or a call, which is written in the way of the chat template. */
export type ExpertMessage = string | { readonly call: ToolCall };

/**
 * What a policy acts in over several turns. An episode has a state of its own, which `step` may change; the object itself
 * is shared by all episodes of a domain. What it throws, or does not do in time, leaves the episode unscored.
 */
export interface Environment<State = unknown> {
  /** Functions that the policy may call, in JSON Schema, for chat templates that show them. */
  readonly tools?: readonly unknown[] | undefined;
  reset(problem: EpisodeProblem, call: EnvironmentCall): State | Promise<State>;
  /** Called with every message of the policy, the last one too; not with one that the token limit of the episode cut. */
  step(state: State, message: TurnMessage, call: EnvironmentCall): TurnOutcome | Promise<TurnOutcome>;
  /** At the end, whatever ended it: any finite number, 1 or more for an episode that succeeded, a boolean, or a verdict. */
  score(
    state: State,
    end: { readonly finish: FinishReason; readonly turns: number },
    call: EnvironmentCall,
  ): Rewarded | Promise<Rewarded>;
  /** Writes the next message of a demonstration, for a warm start: special tokens are spelled, the turn's end is left out. */
  expert?(problem: EpisodeProblem, turn: ExpertTurn): ExpertMessage;
}

/** Name in journal and metrics of what judges a domain that has an environment. */
export const environmentName = (domain: string): string => `environment:${domain}`;

/** Whether problems that name this verifier are judged by an environment. */
export const isEnvironment = (verifier: string): boolean => verifier.startsWith(environmentName(""));

/** The same problems, judged by the environment their episodes are played in. */
export function playedIn(
  source: ProblemSource,
  domain: string,
  { tools }: Pick<Environment, "tools">,
): ProblemSource {
  const shown = tools && { tools: JSON.stringify(tools) };
  const played = (problem: Problem): Problem => ({
    ...shown,
    ...problem,
    verifier: environmentName(domain),
  });
  return {
    domain: source.domain,
    families: source.families,
    problem: (index) => played(source.problem(index)),
    heldOut: (index) => played(source.heldOut(index)),
    ...(source.trainingCount !== undefined && { trainingCount: source.trainingCount }),
    ...(source.heldOutCount !== undefined && { heldOutCount: source.heldOutCount }),
    ...(source.heldOutKeys && { heldOutKeys: source.heldOutKeys }),
    ...(source.report && { report: source.report }),
    ...(source.placeOf && { placeOf: (id) => source.placeOf?.(id) }),
  };
}
