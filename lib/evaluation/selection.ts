import { existsSync } from "node:fs";
import { z } from "zod";
import { HoneError } from "../errors.ts";
import { readJson, writeWhole } from "../metrics/index.ts";
import type { DomainName } from "../records.ts";
import type { ProblemResult } from "./evaluate.ts";
import { mean, type Scoreboard, standardError } from "./score.ts";

const problemSchema = z.object({
  /** Id of the held-out problem. */
  id: z.string(),
  domain: z.string(),
  /** Name of the problem's validation set; absent for a held-out problem of a domain. */
  set: z.string().optional(),
  /** Mean over the attempts that were judged, in [0, 1]. */
  score: z.number(),
});
const validationSchema = z.object({
  /** Steps done when the weights were pinned. */
  step: z.int().min(0),
  version: z.int().min(0),
  /** Wall time, and tokens that the policy wrote: what the evaluation cost. */
  seconds: z.number(),
  tokens: z.number(),
  /** One entry per sampling setting, in the recipe's order. */
  boards: z.array(
    z.custom<Scoreboard>((board) => typeof board === "object" && board !== null && "mean" in board),
  ),
  /** Results under the first sampling setting. */
  problems: z.array(problemSchema),
});
/** One evaluation during training, as recorded in validation.json. */
export type Validation = Readonly<z.infer<typeof validationSchema>>;

/** The evaluations of a run, by step; empty if the file does not exist. Throws HONE_ERR_FORMAT. */
export function readValidations(path: string): Validation[] {
  if (!existsSync(path)) return [];
  const parsed = z.array(validationSchema).safeParse(readJson(path));
  if (parsed.success) return parsed.data;
  throw new HoneError(
    "HONE_ERR_FORMAT",
    `${path}: not the evaluations of a run: ${z.prettifyError(parsed.error)}`,
    {
      hint: "Move the file away: the run continues, and selects the best step among its later evaluations.",
    },
  );
}

export function writeValidations(path: string, validations: readonly Validation[]): void {
  writeWhole(path, `${JSON.stringify(validations)}\n`);
}

/** The score of each problem, from the results under the first sampling setting. */
export function problemScores(results: readonly ProblemResult[]): Validation["problems"] {
  return results.map(({ problem, scores, set }) => ({
    id: problem.id.toString(),
    domain: problem.domain,
    ...(set !== undefined && { set }),
    score: mean(scores),
  }));
}

/** An evaluated step: unweighted mean of its domains' scores in [0, 1], and its standard error. */
export interface Candidate {
  readonly step: number;
  readonly score: number;
  readonly standardError: number;
}

/**
 * The best step, the second best, their difference on the same problems, and the standard error of this difference.
 */
export interface Selection {
  readonly best: Candidate;
  readonly runnerUp?: Candidate & { readonly behind: number; readonly behindError: number };
}

/** Evaluated steps, best first; of steps with equal scores the earlier one first. */
export function rank(validations: readonly Validation[]): Candidate[] {
  const candidates = validations.map(({ step, boards }) => {
    const { score, standardError } = boards[0]!.mean;
    return { step, score, standardError };
  });
  return candidates.sort((a, b) => b.score - a.score || a.step - b.step);
}

/**
 * The step with the best mean over the held-out domains, under the first setting; undefined if none was evaluated.
 * Source: Apriel-Reasoner §5.1, which takes the best of the steps evaluated on the five held-out sets.
 */
export function select(validations: readonly Validation[]): Selection | undefined {
  const [best, next] = rank(validations);
  if (best === undefined) return undefined;
  if (next === undefined) return { best };
  const of = (step: number) => validations.find((validation) => validation.step === step)!.problems;
  const [behind, behindError] = pairedDifference(of(best.step), of(next.step));
  return { best, runnerUp: { ...next, behind, behindError } };
}

type Problems = Validation["problems"];

/** Mean over domains of a's score minus b's, on the problems that both have, and the standard error of this mean. */
function pairedDifference(a: Problems, b: Problems): [number, number] {
  const other = new Map(b.map(({ id, score }) => [id, score]));
  const byDomain = new Map<DomainName, number[]>();
  for (const { id, domain, set, score } of a) {
    const against = other.get(id);
    if (against !== undefined && set === undefined)
      byDomain.set(domain, [...(byDomain.get(domain) ?? []), score - against]);
  }
  const domains = [...byDomain.values()];
  return [mean(domains.map(mean)), Math.hypot(...domains.map(standardError)) / domains.length];
}
