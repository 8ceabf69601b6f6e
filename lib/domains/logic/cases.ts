import { z } from "zod";
import { RowsBeside } from "../case-rows.ts";
import { checked } from "../checked.ts";
import type { CaseReader } from "../verify-case.ts";
import { logic } from "./verify.ts";

const rowSchema = z.object({ puzzle: z.string(), task: z.string(), response: z.string() });
const puzzleSchema = z.object({ id: z.string(), game_data: z.unknown() });

const what = "logic case";
const puzzles = new RowsBeside<unknown>({
  what,
  noun: "puzzle",
  shape: "a puzzle { id, game_data }",
  parse(line) {
    const { id, game_data } = puzzleSchema.parse(JSON.parse(line));
    return [id, game_data];
  },
});

/**
 * Reads { puzzle, task, response }: `puzzle` is the id of a line { id, task, game_data } of puzzles.jsonl in the
 * folder of the case file.
 */
export const readCase: CaseReader = async (row, folder) => {
  const { puzzle, task, response } = checked(rowSchema, row, what, "row");
  const game_data = await puzzles.find(folder, "puzzles.jsonl", puzzle);
  return {
    verifier: logic,
    completion: { text: response, finish: "stop" },
    reference: { task, game_data },
  };
};
