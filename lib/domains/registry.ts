import { CHOICE } from "./choice/index.ts";
import { CODE } from "./code/index.ts";
import type { Domain } from "./domain.ts";
import { FUNCTION_CALLING } from "./function-calling/index.ts";
import { INSTRUCTION_FOLLOWING } from "./instruction-following/index.ts";
import { LOGIC } from "./logic/index.ts";
import { MATH } from "./math/index.ts";

/**
 * Every built-in domain; add a new one as a folder and a row here (docs/how-to/add-a-domain.md). Every command loads
 * this file, so it loads no verifier and no puzzle.
 */
export const DOMAINS = {
  math: MATH,
  code: CODE,
  logic: LOGIC,
  "instruction-following": INSTRUCTION_FOLLOWING,
  "function-calling": FUNCTION_CALLING,
  choice: CHOICE,
} as const satisfies Readonly<Record<string, Domain>>;

/** The names and domains of DOMAINS, typed without the individual names. */
export const DOMAIN_ROWS: readonly (readonly [name: string, domain: Domain])[] = Object.entries(DOMAINS);
