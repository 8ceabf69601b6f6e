import { type Environment, finalResponse, type TurnMessage } from "../domains/index.ts";
import { rewardVerdict } from "../domains/reward.ts";
import type { FinishReason, Problem, Verdict } from "../records.ts";
import { checkVerdict } from "../rewards/index.ts";
import type { PromptFormat, TurnFormat } from "../text/index.ts";
import type { PythonEnvironment } from "./python-environment.ts";
import { readCalls } from "./tool-calls.ts";

/** A sampled turn of the policy. */
export interface SampledTurn {
  /** Index of the turn, from 0. */
  readonly turn: number;
  readonly tokens: Int32Array;
  /** The token that ended the turn; undefined if a limit or a stop string ended it. */
  readonly ended: number | undefined;
}

/** Tokens that the policy reads before its next turn, or the end of the episode, optionally with its reason. */
export type Reply = { readonly given: Int32Array } | { readonly over: FinishReason | undefined };

/** Answers the policy between its turns: an environment, or the record of an environment's answers. */
export interface Partner {
  answer(turn: SampledTurn): Promise<Reply>;
  /** Called once, at the end of the episode. Never rejects. */
  verdict(finish: FinishReason, turns: number): Promise<Verdict>;
  readonly toolCalls: number;
}

/** An environment and its limits. */
export interface Play {
  readonly environment: Environment;
  /** Largest number of messages of the policy. */
  readonly maxTurns: number;
  /** Most tokens per message; undefined if only the whole episode is limited. */
  readonly maxTurnTokens?: number | undefined;
  /** Wall time of one call of the environment. */
  readonly timeoutMs: number;
  /** The environment, if Python processes play it; its owner closes it. */
  readonly python?: PythonEnvironment | undefined;
}

const MOST_CHARS = 500;
const faultOf = (error: unknown): string => String((error as Error)?.message ?? error).slice(0, MOST_CHARS);

interface PartnerOptions {
  readonly play: Play;
  readonly problem: Problem;
  readonly format: PromptFormat;
  readonly turns: TurnFormat;
  /** Aborts when the episode is no longer awaited. */
  readonly closing: AbortSignal;
}

/**
 * An episode in a live environment. An exception or time-out of the environment ends the episode unscored; the call
 * is not repeated, because the state may have changed half way.
 */
export class EnvironmentPartner implements Partner {
  toolCalls = 0;
  readonly #options: PartnerOptions;
  #state: Promise<unknown> | undefined;
  #fault: string | undefined;

  constructor(options: PartnerOptions) {
    this.#options = options;
  }

  async answer({ turn, tokens, ended }: SampledTurn): Promise<Reply> {
    const { play, format, turns } = this.#options;
    const { text } = format.read(tokens);
    const answer = finalResponse(text);
    const read = readCalls(answer, turns.toolCalls, play.environment.tools);
    this.toolCalls += read.calls.length;
    const message: TurnMessage = { turn, text, answer, ...read };
    try {
      const state = await this.#begun();
      const outcome = await this.#call("step", (signal) => play.environment.step(state, message, { signal }));
      if (isDone(outcome)) return { over: undefined };
      const observation = (outcome as { observation?: unknown } | undefined)?.observation;
      if (typeof observation !== "string")
        throw new Error("step returned neither an observation, a text, nor done: true");
      const given = turns.observation(observation, ended);
      if (given.length === 0) throw new Error("step returned an empty observation");
      return { given };
    } catch (error) {
      this.#fault = faultOf(error);
      return { over: undefined };
    }
  }

  async verdict(finish: FinishReason, turns: number): Promise<Verdict> {
    const { play } = this.#options;
    try {
      if (this.#fault !== undefined) throw new Error(this.#fault);
      const state = await this.#begun();
      const end = { finish, turns };
      const score = await this.#call("score", (signal) => play.environment.score(state, end, { signal }));
      return rewardVerdict(score, (verdict) => checkVerdict(verdict, false));
    } catch (error) {
      return { status: "unscored", cause: `the environment: ${faultOf(error)}` };
    }
  }

  #begun(): Promise<unknown> {
    const { play, problem } = this.#options;
    const { id, question, reference, family, level } = problem;
    const about = { id, question, reference, family, level };
    this.#state ??= this.#call("reset", (signal) => play.environment.reset(about, { signal }));
    return this.#state;
  }

  /** Rejects at the time limit, or when the episode is no longer awaited; the call is then abandoned. */
  async #call<T>(name: string, work: (signal: AbortSignal) => T | Promise<T>): Promise<T> {
    const { play, closing } = this.#options;
    const { timeoutMs } = play;
    const time = new AbortController();
    const late = new Promise<never>((_, reject) => {
      time.signal.addEventListener("abort", () => reject(time.signal.reason), { once: true });
    });
    late.catch(() => {});
    const stop = () => time.abort(new Error("the run ended"));
    const timer = setTimeout(() => time.abort(new Error(`${name} took over ${timeoutMs} ms`)), timeoutMs);
    closing.addEventListener("abort", stop, { once: true });
    if (closing.aborted) stop();
    try {
      return await Promise.race([late, Promise.resolve(work(time.signal))]);
    } finally {
      clearTimeout(timer);
      closing.removeEventListener("abort", stop);
    }
  }
}

const isDone = (outcome: unknown): boolean =>
  typeof outcome === "object" && outcome !== null && (outcome as { done?: unknown }).done === true;
