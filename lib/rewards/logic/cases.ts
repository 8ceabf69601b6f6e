import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import type { CaseReader } from "../verify-case.ts";
import { logic } from "./logic.ts";

const PUZZLES = "puzzles.jsonl";
const rowSchema = z.object({ puzzle: z.string(), task: z.string(), response: z.string() });
const puzzleSchema = z.object({ id: z.string(), game_data: z.unknown() });

type Puzzles = ReadonlyMap<string, unknown>;

/** By folder, so that a file of cases reads its puzzles once. */
const READ = new Map<string, Promise<Puzzles>>();

/**
 * Reads { puzzle, task, response }: `puzzle` is the id of a line { id, task, game_data } of puzzles.jsonl in the
 * folder of the case file.
 */
export const readCase: CaseReader = async (row, compat, folder) => {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new HoneError("HONE_ERR_DATA", `logic case: ${issue?.path.join(".")}: ${issue?.message}`);
  }
  const { puzzle, task, response } = parsed.data;
  const puzzles = READ.get(folder) ?? readPuzzles(join(folder, PUZZLES));
  READ.set(folder, puzzles);
  const game_data = (await puzzles).get(puzzle);
  if (game_data === undefined) {
    throw new HoneError("HONE_ERR_DATA", `logic case: no puzzle ${JSON.stringify(puzzle)} in ${PUZZLES}`, {
      details: { folder },
    });
  }
  return {
    verifier: logic,
    completion: { text: response, finish: "stop" },
    reference: { task, game_data, compat },
  };
};

async function readPuzzles(path: string): Promise<Puzzles> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new HoneError("HONE_ERR_DATA", `logic case: cannot read ${path}`, {
      cause,
      hint: "A case names its puzzle by id; puzzles.jsonl must lie beside the case file.",
    });
  });
  const puzzles = new Map<string, unknown>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const { id, game_data } = parsePuzzle(line, `${path}:${index + 1}`);
    puzzles.set(id, game_data);
  }
  return puzzles;
}

function parsePuzzle(line: string, where: string): z.output<typeof puzzleSchema> {
  try {
    return puzzleSchema.parse(JSON.parse(line));
  } catch (cause) {
    throw new HoneError("HONE_ERR_DATA", `${where}: not a puzzle { id, game_data }`, { cause });
  }
}
