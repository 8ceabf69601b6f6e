import { readCase as choice } from "./choice/cases.ts";
import { readCase as code } from "./code/cases.ts";
import { readCase as functionCalling } from "./function-calling/cases.ts";
import { readCase as instructionFollowing } from "./instruction-following/cases.ts";
import { readCase as logic } from "./logic/cases.ts";
import { readCase as math } from "./math/cases.ts";
import type { CaseReader } from "./verify-case.ts";

/** How the rows of a domain's case files are read; the fields are in docs/verify.md. */
export const CASE_READERS: ReadonlyMap<string, CaseReader> = new Map([
  ["math", math],
  ["logic", logic],
  ["function-calling", functionCalling],
  ["instruction-following", instructionFollowing],
  ["code", code],
  ["choice", choice],
]);
