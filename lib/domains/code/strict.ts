import { strOf } from "../../python/spelling.ts";
import { sameValue } from "./compare.ts";
import { lastProgram, pythonBlocks } from "./extract.ts";
import type { Rules } from "./judging.ts";

const END_OF_THINKING = "</think>";

/** Judges programs for training: takes the text after the last `</think>` and runs it as `python3 program.py` would. */
export const STRICT: Rules = {
  programIn(completion) {
    const thought = completion.lastIndexOf(END_OF_THINKING);
    return lastProgram(
      thought < 0 ? completion : completion.slice(thought + END_OF_THINKING.length),
      pythonBlocks,
    );
  },

  /** Lists of lines are joined. */
  textOf: (value) => (value.type === "list" ? value.items.map(strOf).join("\n") : strOf(value)),

  /**
   * Parses a JSON result only if the arguments are JSON texts, as LiveCodeBench does; in a row of values, the result
   * "100" is a string.
   */
  resultIsJson: (argumentsAreJson) => argumentsAreJson,

  dialect: "script",
  equals: sameValue,
  complaintOf: () => undefined,
  tooSlowIsUnparsable: false,
  endsAtFailure: true,
};
