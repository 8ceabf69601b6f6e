import { z } from "zod";
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

/**
 * When all can meet: the last `[...]` is the longest duration in minutes and the number of ways to have it. Strict
 * wants these two numbers and no more; reference lets more follow, and true be 1 as in Python.
 */
export const timeSequence: Game<z.output<typeof schema>> = {
  task: TASK,
  parse: gameData(TASK, schema),

  judge(answer, { metadata }, compat) {
    const marked = spans(answer, "[", "]").at(-1);
    if (marked === undefined) return wrong("no [...]");
    const list = marked.length > MAX_CHARS ? undefined : readList(`[${marked}]`);
    if (list === undefined || list.length < 2) return wrong("not a list of two numbers");
    if (compat === "strict" && (list.length > 2 || list.some((item) => typeof item !== "number")))
      return wrong("not a list of two numbers");
    const { answer_maxLen, answer_nums } = metadata.records.answers;
    const [longest, ways] = list.map((item) => (typeof item === "boolean" ? Number(item) : item));
    if (longest !== answer_maxLen) return wrong("another duration");
    return ways === answer_nums ? correct("duration and count") : wrong("another count");
  },
};

function readList(text: string): readonly unknown[] | undefined {
  try {
    return JSON.parse(text.replaceAll("，", ",")) as readonly unknown[];
  } catch {
    return undefined;
  }
}
