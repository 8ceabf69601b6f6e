import { z } from "zod";
import type { ScoredVerdict } from "../../../../records.ts";
import { correct, wrong } from "../../../verifier.ts";
import { spans } from "../../judging/extraction.ts";
import { type Game, gameData } from "../../judging/game.ts";

const TASK = "time_sequence";
const MAX_CHARS = 1000;

const schema = z.object({
  metadata: z.object({
    records: z.object({ answers: z.object({ answer_maxLen: z.number(), answer_nums: z.number() }) }),
  }),
});
type Data = z.output<typeof schema>;

/**
 * The longest common free time: the last `[...]` is its duration in minutes and the number of possible starts. Strict
 * requires exactly these two numbers; reference allows more after them, and true as 1 as in Python.
 */
export const timeSequence: Game<Data> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge: (answer, data) => judgeList(answer, data, isPairOfNumbers),
  judgeAsReference: (answer, data) => judgeList(answer, data, (list) => list.length >= 2),
};

function judgeList(
  answer: string,
  { metadata }: Data,
  isPair: (list: readonly unknown[]) => boolean,
): ScoredVerdict {
  const marked = spans(answer, "[", "]").at(-1);
  if (marked === undefined) return wrong("no [...]");
  const list = marked.length > MAX_CHARS ? undefined : readList(`[${marked}]`);
  if (list === undefined || !isPair(list)) return wrong("not a list of two numbers");
  const { answer_maxLen, answer_nums } = metadata.records.answers;
  const [longest, ways] = list.map((item) => (typeof item === "boolean" ? Number(item) : item));
  if (longest !== answer_maxLen) return wrong("another duration");
  return ways === answer_nums ? correct("duration and count") : wrong("another count");
}

const isPairOfNumbers = (list: readonly unknown[]): boolean =>
  list.length === 2 && list.every((item) => typeof item === "number");

function readList(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(text.replaceAll("，", ",")) as readonly unknown[];
  } catch {
    return undefined;
  }
}
