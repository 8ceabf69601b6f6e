import { setMaxListeners } from "node:events";
import type { Environment, ExpertTurn } from "../domains/index.ts";
import { HoneError } from "../errors.ts";
import type { GenerationRequest } from "../native/face.ts";
import type { Completion, Generations } from "../native/generations.ts";
import type { CounterRandom } from "../random.ts";
import type { Problem } from "../records.ts";
import type { PromptFormat, TurnFormat } from "../text/index.ts";
import { EnvironmentPartner, type Play } from "./partner.ts";
import { type PlayedEpisode, playEpisode, turnBudget } from "./player.ts";
import { writeCall } from "./tool-calls.ts";

/** An episode as an expert played it. */
export interface DemonstratedEpisode {
  readonly problem: Problem;
  /** Tokens after the prompt: the expert's messages with their ends, and the observations between them. */
  readonly tokens: Int32Array;
  /** [tokens] 1 where the environment or the chat template chose the token: not to be learnt. */
  readonly given: Uint8Array;
}

export interface DemonstratorOptions {
  readonly play: Play;
  readonly format: PromptFormat;
  /** Text with its special tokens spelled to ids. */
  readonly encode: (text: string) => Int32Array;
  /** Most tokens of a whole episode. */
  readonly maxTokens: number;
  /** Share of messages that the expert is asked to write carelessly. */
  readonly wrongRate: number;
  /** Aborts when demonstrations are no longer awaited. */
  readonly closing: AbortSignal;
}

const REQUEST = { id: 0, count: 1, problem: 0, firstAttempt: 0, sampling: { temperature: 1 }, maxTokens: 0 };

/** Lets the expert of an environment play in it, by the rules and in the tokens of an episode that a policy plays. */
export class EpisodeDemonstrator {
  readonly #options: DemonstratorOptions;
  readonly #turns: TurnFormat;

  /** Throws HONE_ERR_UNSUPPORTED for a chat template that has no turns. */
  constructor(options: DemonstratorOptions) {
    this.#options = options;
    this.#turns = options.format.turns();
    setMaxListeners(0, options.closing); // every call of an environment adds a listener
  }

  /**
   * A pure function of the problem and of `random`. Throws HONE_ERR_CONFIG for an episode that does not end within
   * `maxTokens`, HONE_ERR_VERIFIER if the environment or the expert fails.
   */
  async demonstration(problem: Problem, random: CounterRandom): Promise<DemonstratedEpisode> {
    const { play, format, maxTokens, closing } = this.#options;
    const expert = new Expert(problem, random, this.#turns, this.#options);
    const request = { ...REQUEST, prompt: new Int32Array(0), stopIds: format.stopIds };
    const heard = { ...play, environment: expert.listeningTo(play.environment) };
    const partner = new EnvironmentPartner({ play: heard, problem, format, turns: this.#turns, closing });
    const first = expert.turn(turnBudget(play, maxTokens));
    const task = { request, maxTokens, attempt: 0, partner };
    const played = await playEpisode(first, task, play, { generations: expert, format });
    this.#expectWhole(problem, played);
    return { problem, tokens: played.completion.tokens, given: played.episode.given };
  }

  #expectWhole({ domain }: Problem, { completion, episode }: PlayedEpisode): void {
    const { verdict } = episode;
    if (verdict.status === "unscored") throw fault(domain, verdict.cause);
    if (completion.finish !== "length") return;
    const { maxTokens } = this.#options;
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `a demonstration of ${domain} does not end within rollouts.maxOutputTokens, ${maxTokens}`,
      { hint: "Raise rollouts.maxOutputTokens, or leave the domain out of warmStart.mixture." },
    );
  }
}

const fault = (domain: string, cause: string) =>
  new HoneError("HONE_ERR_VERIFIER", `a demonstration of ${domain} cannot be played: ${cause}`);

/** Generates the turns of one episode with an expert instead of an engine. */
class Expert implements Pick<Generations, "generate"> {
  readonly #problem: Problem;
  readonly #random: CounterRandom;
  readonly #turns: TurnFormat;
  readonly #options: DemonstratorOptions;
  readonly #messages: string[] = [];
  readonly #observations: string[] = [];
  #turn = 0;

  constructor(problem: Problem, random: CounterRandom, turns: TurnFormat, options: DemonstratorOptions) {
    this.#problem = problem;
    this.#random = random;
    this.#turns = turns;
    this.#options = options;
  }

  /** The environment, with its observations reported to the expert. */
  listeningTo(environment: Environment): Environment {
    return {
      reset: (problem, call) => environment.reset(problem, call),
      score: (state, end, call) => environment.score(state, end, call),
      step: async (state, message, call) => {
        this.#messages.push(message.answer);
        const outcome = await environment.step(state, message, call);
        if ("observation" in outcome) this.#observations.push(outcome.observation);
        return outcome;
      },
    };
  }

  async generate({ maxTokens }: GenerationRequest): Promise<Completion[]> {
    return [this.turn(maxTokens)];
  }

  /** @param most maximum number of tokens; a longer message is cut */
  turn(most: number): Completion {
    const { format, encode } = this.#options;
    const whole = Int32Array.of(...encode(this.#write()), format.stopIds[0]!);
    return completionOf(whole.slice(0, most), whole.length > most ? "length" : "eos");
  }

  #write(): string {
    const { play, wrongRate } = this.#options;
    const about: ExpertTurn = {
      turn: this.#turn++,
      maxTurns: play.maxTurns,
      messages: this.#messages,
      observations: this.#observations,
      careless: this.#random.next() < wrongRate,
      random: this.#random,
    };
    try {
      const message = play.environment.expert!(this.#problem, about);
      if (typeof message === "string") return message;
      return writeCall(message.call, this.#turns.toolCalls);
    } catch (error) {
      throw fault(this.#problem.domain, `its expert: ${(error as Error).message}`);
    }
  }
}

function completionOf(tokens: Int32Array, finish: "eos" | "length"): Completion {
  const zeros = <A>(array: new (length: number) => A) => new array(tokens.length);
  return {
    request: 0,
    attempt: 0,
    tokens,
    logprobs: zeros(Float32Array),
    entropies: zeros(Float32Array),
    versions: zeros(Uint32Array),
    oldestKvVersions: zeros(Uint32Array),
    finish,
  };
}
