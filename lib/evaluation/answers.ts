import { z } from "zod";
import { HoneError } from "../errors.ts";
import { wholeLines, writeWhole } from "../metrics/index.ts";
import type { ProblemResult } from "./evaluate.ts";

const answersSchema = z.object({
  /** Id of the held-out problem. */
  id: z.string(),
  domain: z.string(),
  /** Name of the problem's validation set; absent for a held-out problem of a domain. */
  set: z.string().optional(),
  level: z.number(),
  /**
   * Each array has one entry per judged attempt: score in [0, 1], whether correct, generated tokens, whether
   * truncated.
   */
  scores: z.array(z.number()),
  correct: z.array(z.boolean()),
  tokens: z.array(z.number()),
  truncated: z.array(z.boolean()),
});
/** Answers of an evaluation to one held-out problem, as recorded in a run folder. */
export type HeldOutAnswers = Readonly<z.infer<typeof answersSchema>>;

/** Writes one line per problem, and puts the file in place by one rename. Throws HONE_ERR_IO. */
export function writeAnswers(path: string, results: readonly ProblemResult[]): void {
  const lines = results.map(({ problem, set, scores, correct, tokens, truncated }) => {
    const { id, domain, level } = problem;
    return JSON.stringify({ id: id.toString(), domain, set, level, scores, correct, tokens, truncated });
  });
  writeWhole(path, lines.map((line) => `${line}\n`).join(""));
}

/** Throws HONE_ERR_IO, HONE_ERR_FORMAT naming the line. */
export function readAnswers(path: string): HeldOutAnswers[] {
  return [...wholeLines(path)].map((line, i) => {
    const parsed = answersSchema.safeParse(parsedJson(line));
    if (parsed.success) return parsed.data;
    const why = z.prettifyError(parsed.error);
    throw new HoneError("HONE_ERR_FORMAT", `${path}:${i + 1}: not the answers to a problem: ${why}`, {
      details: { path },
    });
  });
}

function parsedJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
