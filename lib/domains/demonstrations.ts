import { type Draft, type Family, LEVELS } from "../data/family.ts";
import { problemId } from "../data/problem-id.ts";
import { drawOnSide, toProblem } from "../data/procedural-source.ts";
import { HoneError } from "../errors.ts";
import { CounterRandom } from "../random.ts";
import type { DomainName, Problem } from "../records.ts";
import { FAMILIES } from "./families.ts";

export interface DemonstrationOptions {
  readonly seed: number;
  /** Relative frequency per domain; domains left out are not demonstrated. */
  readonly mixture: Readonly<Record<DomainName, number>>;
  /** Domains of the mixture for which another generator writes the demonstrations. */
  readonly elsewhere?: ReadonlySet<DomainName>;
  /** Response budget in tokens: no demonstration is longer, endless ones have exactly this many. */
  readonly maxTokens: number;
  /** Response text with its special tokens spelled out ("<think>", "</think>", "<eos>") to ids. */
  readonly encode: (text: string) => Int32Array;
  /** Share of demonstrations whose final answer is wrong. Default 0.15; 0 for a clean demonstrator. */
  readonly wrongRate?: number;
  /** Share of demonstrations that re-check until the budget ends and never answer. Default 0.08; 0 for a clean demonstrator. */
  readonly endlessRate?: number;
}

export interface Demonstration {
  readonly problem: Problem;
  /** Token ids of the thought, the answer and the end token; an endless demonstration has no end token. */
  readonly tokens: Int32Array;
  /** Content of the thought: nothing, the working, or the working among filler with a re-check. */
  readonly style: "direct" | "steps" | "verbose" | "endless";
  /** True if the answer follows from the working; false for a swapped answer and for an endless one. */
  readonly faithful: boolean;
}

const DIRECT_RATE = 0.35;
const STEPS_RATE = 0.35;
const OPENINGS = ["hmm let me see", "ok so", "let me check", "so first", "next step"];
const RECHECKS = [" check ", " hmm let me check ", " ok so check "];
const CLOSINGS = ["", " ok", " done"];
const WRONG_ANSWER_TRIES = 8;
const PURPOSE_WORD = 0x80;

/**
 * Writes the demonstrations of the warm start. They are imperfect on purpose: the working is right, but styles are
 * mixed, some answers are wrong and some thoughts never end. The warm start trains the skill and leaves reinforcement
 * learning something to improve.
 */
export class Demonstrator {
  readonly #options: DemonstrationOptions;
  readonly #domains: readonly DomainName[];
  readonly #weights: readonly number[];
  readonly #families = new Map<DomainName, readonly Family[]>();

  constructor(options: DemonstrationOptions) {
    this.#options = options;
    this.#domains = Object.keys(options.mixture);
    this.#weights = Object.values(options.mixture);
    for (const [domain, weight] of Object.entries(options.mixture)) {
      if (options.elsewhere?.has(domain)) continue;
      const families = FAMILIES.filter((family) => family.domain === domain);
      if (families.length === 0) {
        throw new HoneError(
          "HONE_ERR_CONFIG",
          `no demonstrations exist for domain ${JSON.stringify(domain)}`,
        );
      }
      if (!(weight > 0))
        throw new HoneError("HONE_ERR_CONFIG", `mixture.${domain} is ${weight}, expected > 0`);
      this.#families.set(domain, families);
    }
  }

  /** Domain of the index-th demonstration. */
  domainOf(index: number): DomainName {
    return this.#domains[this.#stream(index, 0).weighted(this.#weights)]!;
  }

  /**
   * The index-th demonstration: a pure function of (options, index), never about a held-out question. Its domain must
   * have demonstrations.
   */
  demonstration(index: number): Demonstration {
    const stream = (attempt: number) => this.#stream(index, attempt);
    const manner = stream(0);
    const domain = this.#domains[manner.weighted(this.#weights)]!;
    const family = manner.choice(this.#families.get(domain)!);
    const level = manner.int(0, LEVELS - 1);
    const draft = drawOnSide(family, level, false, stream);
    const ordinal = FAMILIES.indexOf(family);
    const problem = toProblem(family, level, problemId("demonstration", ordinal, index), draft);
    return { problem, ...this.#respond(manner, family, level, draft) };
  }

  #stream(index: number, attempt: number): CounterRandom {
    return new CounterRandom(this.#options.seed, index, PURPOSE_WORD, attempt);
  }

  #respond(
    random: CounterRandom,
    family: Family,
    level: number,
    draft: Draft,
  ): Omit<Demonstration, "problem"> {
    const { maxTokens, encode, wrongRate = 0.15, endlessRate = 0.08 } = this.#options;
    const { style, thinking } = think(random, draft.steps);
    const fault = random.next();
    if (fault >= wrongRate && fault < wrongRate + endlessRate) {
      const tokens = encode(`<think>${thinkEndlessly(random, draft.steps, maxTokens)}`).slice(0, maxTokens);
      return { tokens, style: "endless", faithful: false };
    }
    const answer = fault < wrongRate ? wrongAnswer(random, family, level, draft.answer) : draft.answer;
    const faithful = answer === draft.answer;
    const tokens = encode(`<think>${thinking}</think>${answer}<eos>`);
    if (tokens.length <= maxTokens) return { tokens, style, faithful };
    const shorter =
      style === "verbose" ? { style: "steps" as const, thinking: draft.steps } : { style, thinking };
    const retold = encode(`<think>${shorter.thinking}</think>${answer}<eos>`);
    if (retold.length > maxTokens) {
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `a ${family.name} demonstration of level ${level} takes ${retold.length} tokens, rollouts.maxOutputTokens is ${maxTokens}`,
        { hint: "Raise rollouts.maxOutputTokens, or leave the domain out of warmStart.mixture." },
      );
    }
    return { tokens: retold, style: shorter.style, faithful };
  }
}

const lastTwo = (steps: string) => steps.split(" ").slice(-2).join(" ");

function think(
  random: CounterRandom,
  steps: string,
): { style: "direct" | "steps" | "verbose"; thinking: string } {
  const mode = random.next();
  if (mode < DIRECT_RATE) return { style: "direct", thinking: "" };
  if (mode < DIRECT_RATE + STEPS_RATE) return { style: "steps", thinking: steps };
  const recheck = random.choice(RECHECKS) + lastTwo(steps) + random.choice(CLOSINGS);
  return { style: "verbose", thinking: `${random.choice(OPENINGS)} ${steps}${recheck}` };
}

/** Working re-checked over and over, at least `maxTokens` long: a re-check is never under four tokens. */
function thinkEndlessly(random: CounterRandom, steps: string, maxTokens: number): string {
  let thinking = steps;
  const tail = lastTwo(steps);
  for (let tokens = 0; tokens < maxTokens; tokens += 4) thinking += random.choice(RECHECKS) + tail;
  return thinking;
}

/** The answer to another problem of the same family and level, so that it looks plausible. */
function wrongAnswer(random: CounterRandom, family: Family, level: number, right: string): string {
  for (let i = 0; i < WRONG_ANSWER_TRIES; i++) {
    const other = family.draw(random, level).answer;
    if (other !== right) return other;
  }
  return right;
}
