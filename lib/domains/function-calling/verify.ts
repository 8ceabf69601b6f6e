import { z } from "zod";
import { loadGrammar } from "../../python/syntax.ts";
import { checkedReference } from "../checked.ts";
import { compatField, type JudgedTwoWays } from "../compat.ts";
import type { Verifier } from "../verifier.ts";
import { type Entry, readEntry } from "./entry.ts";
import { FACTS } from "./facts.ts";
import { type Dialect, judgeCalls, type Rules } from "./judging.ts";
import { REFERENCE } from "./reference.ts";
import { STRICT } from "./strict.ts";

const RULES: JudgedTwoWays<Rules> = { reference: REFERENCE, strict: STRICT };

const referenceSchema = z.object({
  entry: z.union([z.string(), z.record(z.string(), z.unknown())]),
  dialect: z.enum(["tool_calls", "python"]).optional(),
  compat: compatField,
});

export interface FunctionCallingReference {
  readonly entry: Entry;
  readonly rules: Rules;
  /** Undefined: determined from the response, by its tags. */
  readonly dialect: Dialect | undefined;
}

/**
 * Function calls: the calls of the response must be those expected, or, for the relevance categories, there must be
 * one or none. Two ways to write them: with the marks of a chat template (names with "_" for "."), or nothing but
 * `[f(a=1), g.h(b=2)]` (for Java and JavaScript functions one call, its values in their syntax).
 * The reference is { entry, dialect?, compat? }: a row of a category file, better as its JSON text than parsed, since
 * parsing loses the difference of 1 and 1.0; strict unless said. Strict reads what follows the last `</think>`, gives
 * no credit for some of several calls, and closes the reference's leniencies (docs/reference/verify.md).
 * Source: BFCL v4, single-turn; statuses and partial credit as PipelineRL gives them.
 */
export const functionCalling: Verifier<FunctionCallingReference> = {
  ...FACTS.functionCalling,

  prepare: async () => void loadGrammar(),

  parseReference(raw) {
    const shape = "{ entry, dialect?, compat? }";
    const { entry, dialect, compat } = checkedReference(referenceSchema, raw, "function-calling", shape);
    return { entry: readEntry(entry), rules: RULES[compat], dialect };
  },

  verify: (completion, { entry, rules, dialect }) => judgeCalls(completion, entry, dialect, rules),
};
