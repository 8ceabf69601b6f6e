import { strOf } from "../../python/spelling.ts";
import { equals } from "../../python/value.ts";
import { lastProgram, looseBlocks } from "./extract.ts";
import type { Rules } from "./judging.ts";

/**
 * Judges programs as the reference implementation does: takes them from the whole completion, thought
 * included, and runs every test, since the verdict depends on all.
 * Source: PipelineRL, domains/coding, for rows of TACO and APPS.
 */
export const REFERENCE: Rules = {
  programIn: (completion) => lastProgram(completion, looseBlocks),

  /** Spells a list of lines as Python prints a list; no program expects such input. */
  textOf: strOf,
  resultIsJson: () => true,
  dialect: "guarded",

  /** Python's `==` once an outermost tuple is a list. */
  equals: (actual, expected) =>
    equals(actual.type === "tuple" ? { ...actual, type: "list" } : actual, expected),

  /** Any of these words on standard error indicates a crash; two error names indicate a program that does not compile. */
  complaintOf(stderr) {
    if (!/traceback|syntaxerror|indentationerror|exception/i.test(stderr)) return undefined;
    return /SyntaxError|IndentationError/.test(stderr) ? "syntax" : "crash";
  },

  tooSlowIsUnparsable: true,
  endsAtFailure: false,
};
