import type { z } from "zod";
import { HoneError } from "../../../errors.ts";
import type { ScoredVerdict } from "../../../records.ts";

/** One kind of puzzle: which parts of a row's `game_data` it needs, and when an answer solves it. */
export interface Game<Data = unknown> {
  /** The row's `task`. */
  readonly task: string;
  /** Throws HONE_ERR_DATA naming the first field that is missing or wrong. */
  parse(gameData: unknown): Data;
  /**
   * As training judges: the exploits of the reference closed.
   * @param answer not blank, at most 2^20 UTF-16 units, without its thought. Hostile: time linear in its length, or in a
   *   prefix that is bounded first.
   */
  judge(answer: string, data: Data): ScoredVerdict;
  /** As the reference judges the whole completion, its bugs included; absent where that is the same. */
  judgeAsReference?(answer: string, data: Data): ScoredVerdict;
}

/** The `parse` of a game whose data are those of a schema. */
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
