import { HoneError } from "../errors.ts";
import { CounterRandom } from "../random.ts";
import type { Problem } from "../records.ts";
import { type Draft, type Family, LEVELS } from "./family.ts";
import { isHeldOut } from "./holdout.ts";
import { PURPOSES, type Purpose, problemId } from "./problem-id.ts";
import type { ProblemSource } from "./problem-source.ts";

/**
 * Draws after which the wanted side of the split counts as empty. One question in ten is held out and the smallest
 * family has ten, so this many draws on the other side cannot be chance.
 */
const MAX_REDRAWS = 2000;

/** Words that name a draw's random stream: no two (purpose, ordinal, index, attempt) share one. */
function streamOf(
  seed: number,
  purpose: Purpose,
  ordinal: number,
  index: number,
  attempt: number,
): CounterRandom {
  return new CounterRandom(seed, index, PURPOSES.indexOf(purpose) * 64 + ordinal, attempt);
}

/**
 * Draws drafts of a family and level until the question falls on the wanted side of the split; family and
 * level stay, so the split does not skew the mixture.
 */
export function drawOnSide(
  family: Family,
  level: number,
  heldOut: boolean,
  stream: (attempt: number) => CounterRandom,
): Draft {
  for (let attempt = 1; attempt <= MAX_REDRAWS; attempt++) {
    const draft = family.draw(stream(attempt), level);
    if (isHeldOut(draft.question) === heldOut) return draft;
  }
  throw new HoneError(
    "HONE_ERR_DATA",
    `${family.name} at level ${level} gave no ${heldOut ? "held-out" : "training"} question in ${MAX_REDRAWS} draws`,
    { hint: "Its question space is too small for the split; widen the family's ranges." },
  );
}

export function toProblem(family: Family, level: number, id: number, draft: Draft): Problem {
  const { question, reference } = draft;
  return {
    id,
    domain: family.domain,
    family: family.name,
    level,
    question,
    verifier: family.verifier,
    reference,
  };
}

/**
 * Generates problems: draws family and level uniformly for training, and takes them in turns for evaluation.
 */
export class ProceduralSource implements ProblemSource {
  readonly domain: string;
  readonly families: readonly string[];
  readonly #families: readonly Family[];
  readonly #seed: number;
  readonly #ordinal: number;

  /** @param families at least one, all of one domain. @param ordinal 0..63, unique among the run's sources. */
  constructor(families: readonly Family[], seed: number, ordinal: number) {
    this.#families = families;
    this.#seed = seed;
    this.#ordinal = ordinal;
    this.domain = families[0]!.domain;
    this.families = families.map((family) => family.name);
  }

  problem(index: number): Problem {
    const kind = streamOf(this.#seed, "train", this.#ordinal, index, 0);
    const family = kind.choice(this.#families);
    return this.#make("train", index, family, kind.int(0, LEVELS - 1));
  }

  heldOut(index: number): Problem {
    const turns = this.#families.length;
    return this.#make("held-out", index, this.#families[index % turns]!, Math.floor(index / turns) % LEVELS);
  }

  #make(purpose: "train" | "held-out", index: number, family: Family, level: number): Problem {
    const id = problemId(purpose, this.#ordinal, index);
    const stream = (attempt: number) => streamOf(this.#seed, purpose, this.#ordinal, index, attempt);
    return toProblem(family, level, id, drawOnSide(family, level, purpose === "held-out", stream));
  }
}
