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
  /** Syntax in which the calls are written; if undefined, it is detected from the response's tags. */
  readonly dialect: Dialect | undefined;
}

/**
 * Function calls: the calls of the response must be the expected ones, or, for the relevance categories,
 * there must be a call or no call. Two dialects: the markup of a chat template (names with "_" for "."), or
 * nothing but `[f(a=1), g.h(b=2)]` (for Java and JavaScript functions one call, its values in their syntax).
 * The reference is { entry, dialect?, compat? }: a row of a category file, preferably as JSON text, since
 * parsing makes 1 and 1.0 equal; strict by default. Strict reads the text after the last `</think>`, gives no
 * partial credit, and closes the reference's loopholes (docs/reference/verify.md).
 * Source: BFCL v4, single-turn; statuses and partial credit as in PipelineRL.
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
