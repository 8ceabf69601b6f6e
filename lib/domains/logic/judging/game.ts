import type { z } from "zod";
import { HoneError } from "../../../errors.ts";
import type { ScoredVerdict } from "../../../records.ts";

/** One kind of puzzle: the parts of a row's `game_data` that it needs, and the rule by which an answer solves it. */
export interface Game<Data = unknown> {
  /** The row's `task`. */
  readonly task: string;
  /** Throws HONE_ERR_DATA naming the first field that is missing or wrong. */
  parse(gameData: unknown): Data;
  /**
   * Judges for training, with the reference's exploits closed.
   * @param answer not blank, at most 2^20 UTF-16 units, without its thought. Possibly hostile: takes time linear in
   * its length, or in a bounded prefix
   */
  judge(answer: string, data: Data): ScoredVerdict;
  /** Judges the whole completion as the reference implementation does, bugs included; absent if `judge` gives equal verdicts. */
  judgeAsReference?(answer: string, data: Data): ScoredVerdict;
}

/** The `parse` function of a game whose data follow a schema. */
export function gameData<Data>(task: string, schema: z.ZodType<Data>): (gameData: unknown) => Data {
  return (raw) => {
    const parsed = schema.safeParse(raw);
    if (parsed.success) return parsed.data;
    const [issue] = parsed.error.issues;
    const path = ["game_data", ...(issue?.path ?? [])].join(".");
    throw new HoneError("HONE_ERR_DATA", `logic: ${task}: ${path}: ${issue?.message}`, {
      details: { task, path },
    });
  };
}
