import type { Constraint, ConstraintTable } from "../constraint.ts";
import { COUNT } from "./count.ts";
import { CUSTOM } from "./custom.ts";
import { FORMAT } from "./format.ts";
import { RATIO } from "./ratio.ts";
import { REPEAT } from "./repeat.ts";
import { SENTENCE } from "./sentence.ts";
import { WORDS } from "./words.ts";

/** The constraint, which an answer without any word cannot follow, but by the published checker: "((((()" nests brackets. */
function answered(kind: Constraint): Constraint {
  return {
    ...kind,
    bind(args) {
      const check = kind.bind(args);
      return (response) => response.words.length > 0 && check(response);
    },
  };
}

/**
 * IFBench's 58 out-of-domain constraints by id. Whatever strict mode accepts, reference mode accepts too.
 * Source: IFBench, Pyatkin et al. 2025, "Generalizing Verifiable Instruction Following".
 */
export const IFBENCH: ConstraintTable = Object.fromEntries(
  Object.entries({ ...COUNT, ...RATIO, ...WORDS, ...SENTENCE, ...FORMAT, ...CUSTOM, ...REPEAT }).map(
    ([id, kind]) => [id, answered(kind)],
  ),
);
