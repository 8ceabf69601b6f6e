import type { Constraint, ConstraintTable } from "./constraint.ts";
import { COPY } from "./constraints/copy.ts";
import { FORMAT } from "./constraints/format.ts";
import { EDGE_WORDS, KEYWORDS } from "./constraints/keywords.ts";
import { LENGTH } from "./constraints/length.ts";
import { STYLE } from "./constraints/style.ts";
import { IFBENCH } from "./ifbench/ifbench.ts";

/** One table per family of constraints. */
const TABLES: readonly ConstraintTable[] = [KEYWORDS, EDGE_WORDS, LENGTH, FORMAT, COPY, STYLE, IFBENCH];

/**
 * Every constraint by its id: the 25 of IFEval, the 29 that IF-RLVR adds for training, the 58 of IFBench.
 * Source: IFEval, Zhou et al. 2023; "Generalizing Verifiable Instruction Following", Pyatkin et al. 2025 (IFEvalG).
 */
export const CONSTRAINTS: ReadonlyMap<string, Constraint> = new Map(
  TABLES.flatMap((table) => Object.entries(table)),
);
