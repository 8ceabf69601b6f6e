import { atLevel, type Draft, type Family } from "../../data/family.ts";
import type { CounterRandom } from "../../random.ts";
import { NOUNS } from "../lexicon.ts";

/** Kinds of constraints, in the order in which the question states them. */
const KINDS = ["count", "include", "start", "end", "avoid", "case"] as const;
type Kind = (typeof KINDS)[number];

interface Constraints {
  count?: number;
  include?: string;
  start?: string;
  end?: string;
  avoid?: string;
  case?: "uppercase" | "lowercase";
}

const FILLER = NOUNS.slice(0, 5);
const SPONTANEOUS_UPPERCASE_RATE = 0.2;

function drawKinds(random: CounterRandom, level: number): readonly Kind[] {
  const kinds = random.sample(KINDS, level + 1);
  if (level > 0 && !kinds.includes("count")) kinds[0] = "count";
  return KINDS.filter((kind) => kinds.includes(kind));
}

function drawConstraints(random: CounterRandom, level: number): Constraints {
  const [include, end, start, avoid] = random.sample(NOUNS, 4) as [string, string, string, string];
  const constraints: Constraints = {};
  for (const kind of drawKinds(random, level)) {
    if (kind === "count") constraints.count = random.int(2, atLevel([5, 6, 7, 8], level));
    else if (kind === "case") constraints.case = random.choice(["uppercase", "lowercase"] as const);
    else constraints[kind] = { include, end, start, avoid }[kind];
  }
  return constraints;
}

function phrase(constraints: Constraints): string {
  const phrases: string[] = [];
  if (constraints.count !== undefined) phrases.push(`${constraints.count} words`);
  if (constraints.include !== undefined) phrases.push(`include ${constraints.include}`);
  if (constraints.start !== undefined) phrases.push(`start with ${constraints.start}`);
  if (constraints.end !== undefined) phrases.push(`end with ${constraints.end}`);
  if (constraints.avoid !== undefined) phrases.push(`avoid ${constraints.avoid}`);
  if (constraints.case !== undefined) phrases.push(constraints.case);
  return `Write: ${phrases.join(", ")}`;
}

/** Required words have fixed places (start, then include, ..., end), so that the working is easy to imitate. */
function writeWords(random: CounterRandom, constraints: Constraints, count: number): string[] {
  const pool = FILLER.filter((word) => word !== constraints.avoid);
  const words = Array.from({ length: count }, () => random.choice(pool));
  if (constraints.start !== undefined) words[0] = constraints.start;
  if (constraints.end !== undefined) words[count - 1] = constraints.end;
  if (constraints.include !== undefined) words[constraints.start === undefined ? 0 : 1] = constraints.include;
  const shout =
    constraints.case === "uppercase" ||
    (constraints.case === undefined && random.next() < SPONTANEOUS_UPPERCASE_RATE);
  return shout ? words.map((word) => word.toUpperCase()) : words;
}

function draw(random: CounterRandom, level: number): Draft {
  for (;;) {
    const constraints = drawConstraints(random, level);
    const needed = (["include", "start", "end"] as const).filter(
      (kind) => constraints[kind] !== undefined,
    ).length;
    const count = constraints.count ?? random.int(Math.max(2, needed), 6);
    if (count < needed) continue; // no answer can satisfy the constraints
    const words = writeWords(random, constraints, count);
    return {
      question: phrase(constraints),
      answer: words.join(" "),
      steps: words.map((word, i) => `${i + 1} ${word}`).join(" "),
      reference: { constraints, lexicon: NOUNS },
    };
  }
}

/** A list of words under 1 to 4 constraints; the reward is the fraction met. */
export const wordList: Family = { name: "if", domain: "instruction-following", verifier: "word-list", draw };
