import type { ConstraintTable } from "../constraint.ts";
import { COUNT } from "./count.ts";
import { CUSTOM } from "./custom.ts";
import { FORMAT } from "./format.ts";
import { RATIO } from "./ratio.ts";
import { REPEAT } from "./repeat.ts";
import { SENTENCE } from "./sentence.ts";
import { WORDS } from "./words.ts";

/**
 * IFBench's 58 out-of-domain constraints by id. Whatever strict mode accepts, reference mode accepts too.
 * Source: IFBench, Pyatkin et al. 2025, "Generalizing Verifiable Instruction Following".
 */
export const IFBENCH: ConstraintTable = {
  ...COUNT,
  ...RATIO,
  ...WORDS,
  ...SENTENCE,
  ...FORMAT,
  ...CUSTOM,
  ...REPEAT,
};
