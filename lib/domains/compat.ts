import { z } from "zod";
import { type ProblemSource, problemName } from "../data/index.ts";
import { HoneError } from "../errors.ts";
import type { Problem } from "../records.ts";

/** `reference` reproduces the labels of the reference implementation, its bugs included; `strict` closes its exploits. */
export type Compat = "reference" | "strict";

/** The field of a problem's reference that chooses strict or reference mode; default strict. */
export const compatField = z.enum(["reference", "strict"]).default("strict");

/** The two variants of a verifier's rules; the verifier chooses one when it reads a problem's reference. */
export type JudgedTwoWays<Rules> = Readonly<Record<Compat, Rules>>;

/**
 * The source's problems, to be judged by the rules that `compat` names. Throws HONE_ERR_CONFIG for a problem
 * whose reference is not an object.
 */
export function judgedBy(source: ProblemSource, compat: Compat): ProblemSource {
  const marked = ({ reference, ...problem }: Problem): Problem => {
    if (typeof reference !== "object" || reference === null || Array.isArray(reference)) {
      throw new HoneError(
        "HONE_ERR_CONFIG",
        `domains.${source.domain}.verifier.compat: the reference of ${problemName(source, problem.id)} is no object, so it cannot say how to judge`,
        { hint: "Leave compat out, or give the source's problems references that are objects." },
      );
    }
    return { ...problem, reference: { ...reference, compat } };
  };
  return {
    domain: source.domain,
    families: source.families,
    problem: (index) => marked(source.problem(index)),
    heldOut: (index) => marked(source.heldOut(index)),
    ...(source.trainingCount !== undefined && { trainingCount: source.trainingCount }),
    ...(source.heldOutCount !== undefined && { heldOutCount: source.heldOutCount }),
    ...(source.heldOutKeys && { heldOutKeys: source.heldOutKeys }),
    ...(source.report && { report: source.report }),
    ...(source.placeOf && { placeOf: (id) => source.placeOf?.(id) }),
  };
}
