import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { lastBox, onlyBox } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "boolean_expressions";
const schema = z.object({ answer: z.string() });
type Data = z.output<typeof schema>;

/**
 * Selects which of the options A, B, ... hold: the letters in the last box must be those of the stored answer, in any
 * order and case. Reference counts every letter in the box, also those of `\text` and "and", so `\text{A}` is wrong
 * and an empty box equals an answer without options; strict reads listed options only and requires at least one.
 */
export const booleanExpressions: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeOptions(onlyBox(answer), data, listed),
  judgeAsReference: (answer, data) => judgeOptions(lastBox(answer), data, letters),
};

function judgeOptions(
  box: string | undefined,
  data: Data,
  optionsIn: (box: string) => string | undefined,
): ScoredVerdict {
  if (box === undefined) return wrong("no \\boxed{}");
  const given = optionsIn(box);
  if (given === undefined) return wrong("not a list of options");
  return given === letters(data.answer) ? correct("the options that hold") : wrong("other options");
}

/** ASCII letters of a text in lower case, each once, in order. */
function letters(text: string): string {
  const found = (text.match(/[a-zA-Z]/g) ?? []).map((letter) => letter.toLowerCase());
  return [...new Set(found)].sort().join("");
}

/** The options of "A, B \text{ and } d"; undefined if the text contains anything else or is empty. */
function listed(text: string): string | undefined {
  const words = text.replace(/\\(?:text|textbf|mathrm|mathbf)\b|\band\b/g, " ").match(/[^\s,，、;{}()$.]+/g);
  return words?.every((word) => /^[a-zA-Z]$/.test(word)) ? letters(words.join("")) : undefined;
}
