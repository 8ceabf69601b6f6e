import type { Recipe, WarmStartConfig } from "../../config/index.ts";
import type { ProblemSource } from "../../data/index.ts";
import { Demonstrator } from "../../domains/index.ts";
import { EpisodeDemonstrator, type Play } from "../../episodes/index.ts";
import { CounterRandom } from "../../random.ts";
import type { DomainName, Problem } from "../../records.ts";
import type { Model, RunResources } from "../setup/index.ts";

/** A problem and its demonstrated answer. */
export interface Shown {
  readonly problem: Problem;
  /** Tokens after the prompt. */
  readonly tokens: Int32Array;
  /** [tokens] for an episode: 1 for tokens that its environment chose. */
  readonly given?: Uint8Array;
}

/** Sources of demonstrations. */
export type Demonstrated = {
  readonly model: Pick<Model, "tokenizer" | "format">;
} & Pick<RunResources, "sources" | "plays">;

const PURPOSE_WORD = 0x81;

/**
 * Writes the training data of a warm start: answers to generated problems, and episodes that experts play on training
 * problems.
 */
export class Demonstrations {
  readonly #seed: number;
  readonly #answers: Demonstrator;
  readonly #played: ReadonlyMap<
    DomainName,
    { readonly by: EpisodeDemonstrator; readonly source: ProblemSource }
  >;

  /**
   * Throws HONE_ERR_CONFIG for a domain without a source of demonstrations. @param closing aborts calls of
   * environments
   */
  constructor(
    { seed, rollouts }: Pick<Recipe, "seed" | "rollouts">,
    { mixture, wrongRate, endlessRate }: WarmStartConfig,
    { model: { tokenizer, format }, sources, plays }: Demonstrated,
    closing: AbortSignal,
  ) {
    const end = tokenizer.nameOf(format.stopIds[0]!) ?? "";
    const maxTokens = rollouts.maxOutputTokens;
    const encode = (text: string) => tokenizer.encode(text);
    const episodes = (play: Play) =>
      new EpisodeDemonstrator({ play, format, encode, maxTokens, wrongRate, closing });
    this.#seed = seed;
    this.#played = new Map(
      [...plays]
        .filter(([domain]) => Object.hasOwn(mixture, domain))
        .map(([domain, play]) => [domain, { by: episodes(play), source: sources.get(domain)! }]),
    );
    this.#answers = new Demonstrator({
      seed,
      mixture,
      elsewhere: new Set(this.#played.keys()),
      wrongRate,
      endlessRate,
      maxTokens,
      encode: (text) => encode(text.replace(/<eos>$/, () => end)),
    });
  }

  /** Returns demonstration `index`: a function of the recipe and the index. */
  async at(index: number): Promise<Shown> {
    const played = this.#played.get(this.#answers.domainOf(index));
    if (played === undefined) return this.#answers.demonstration(index);
    const random = new CounterRandom(this.#seed, index, PURPOSE_WORD);
    return played.by.demonstration(played.source.problem(index), random);
  }
}
