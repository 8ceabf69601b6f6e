import type { ProblemSource } from "../data/index.ts";
import type { CounterRandom } from "../random.ts";
import type { FinishReason, Problem } from "../records.ts";
import type { Rewarded } from "./reward.ts";

/** A tool call in a message of the policy, written in the chat template's form. */
export interface ToolCall {
  readonly name: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** The policy's message in one turn. */
export interface TurnMessage {
  /** Index of the turn in the episode, from 0. */
  readonly turn: number;
  /** The whole turn with special tokens spelled, thought included; without the token that ended it. */
  readonly text: string;
  /** Text after the thought, trimmed; empty if the thought never ends. */
  readonly answer: string;
  readonly calls: readonly ToolCall[];
  /** Reason why something that looks like a call could not be read; absent if there is none. */
  readonly malformed?: string;
}

/** The policy's next observation, or the end of the episode. */
export type TurnOutcome = { readonly observation: string } | { readonly done: true };

/** Context of a call: its signal is aborted at the call's time limit, and when the run ends without waiting. */
export interface EnvironmentCall {
  readonly signal: AbortSignal;
}

/** The problem of an episode. */
export type EpisodeProblem = Pick<Problem, "id" | "question" | "reference" | "family" | "level">;

/** Input of an expert in its turn: what a policy would see, and the problem with its reference. */
export interface ExpertTurn {
  /** Index of the turn, from 0. */
  readonly turn: number;
  /** Largest number of messages in the episode. */
  readonly maxTurns: number;
  /** The expert's previous messages as the environment read them, oldest first. */
  readonly messages: readonly string[];
  /** The environment's observation after each message. */
  readonly observations: readonly string[];
  /**
   * True if the expert should write a poor message here. This holds for a fraction `warmStart.wrongRate` of the
   * messages, so that there is something left to learn.
   */
  readonly careless: boolean;
  /** Random stream of this message only; equal in every run with the same seed. */
  readonly random: CounterRandom;
}

/** The text of a message, or a tool call, which the chat template formats. */
export type ExpertMessage = string | { readonly call: ToolCall };

/**
 * An environment in which a policy acts over several turns. Each episode has its own state, which `step` may change;
 * the object itself is shared by all episodes of a domain. An exception or time-out leaves the episode unscored.
 */
export interface Environment<State = unknown> {
  /** Functions that the policy may call, in JSON Schema, for chat templates that show them. */
  readonly tools?: readonly unknown[] | undefined;
  reset(problem: EpisodeProblem, call: EnvironmentCall): State | Promise<State>;
  /** Called with every message of the policy, including the last, except one that the episode's token limit cut. */
  step(state: State, message: TurnMessage, call: EnvironmentCall): TurnOutcome | Promise<TurnOutcome>;
  /** Called at the end of every episode. Returns a finite number, 1 or more for success, or a boolean, or a verdict. */
  score(
    state: State,
    end: { readonly finish: FinishReason; readonly turns: number },
    call: EnvironmentCall,
  ): Rewarded | Promise<Rewarded>;
  /**
   * Writes the next message of a demonstration for a warm start: with special tokens spelled out, without the end of
   * the turn.
   */
  expert?(problem: EpisodeProblem, turn: ExpertTurn): ExpertMessage;
}

/** Name, in the journal and metrics, of the environment that judges a domain. */
export const environmentName = (domain: string): string => `environment:${domain}`;

/** True if an environment judges the problems that name this verifier. */
export const isEnvironment = (verifier: string): boolean => verifier.startsWith(environmentName(""));

/** The source's problems, to be judged by the environment that plays their episodes. */
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
