import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { readJson } from "../python/json.ts";
import type { CaseReader } from "../verify-case.ts";
import { categoryOf } from "./entry.ts";
import { type Dialect, functionCalling } from "./function-calling.ts";

const rowSchema = z.object({
  response: z.string(),
  entry: z.union([z.string(), z.record(z.string(), z.unknown())]),
  category: z
    .string()
    .regex(/^[a-z_]+$/)
    .optional(),
  dialect: z.enum(["tool_calls", "python"]).optional(),
  partial: z.number().optional(),
});

type Lines = ReadonlyMap<string, string>;

/** By file, so that the entries of a category are read once. */
const READ = new Map<string, Promise<Lines>>();

/**
 * Reads { response, entry, category?, dialect? }: `entry` is the id of a line of <category>.jsonl in the folder of
 * the case file, or such a line itself as an object.
 */
export const readCase: CaseReader = async (row, compat, folder) => {
  const parsed = rowSchema.safeParse(row);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new HoneError(
      "HONE_ERR_DATA",
      `function-calling case: ${issue?.path.join(".")}: ${issue?.message}`,
    );
  }
  const { response, entry, category, dialect, partial } = parsed.data;
  const line = typeof entry === "string" ? await entryLine(entry, category, folder) : entry;
  const told =
    dialect ?? dialectOf(typeof entry === "string" ? (category ?? categoryOf(entry)) : category, partial);
  return {
    verifier: functionCalling,
    completion: { text: response, finish: "stop" },
    reference: { entry: line, compat, ...(told && { dialect: told }) },
  };
};

/** Rows with a label of partial credit and those of relevance are in the JSON dialect; others tell by their tags. */
function dialectOf(category: string | undefined, partial: number | undefined): Dialect | undefined {
  return partial !== undefined || /relevance/.test(category ?? "") ? "tool_calls" : undefined;
}

async function entryLine(id: string, category: string | undefined, folder: string): Promise<string> {
  const name = category ?? categoryOf(id);
  if (name === undefined)
    throw new HoneError(
      "HONE_ERR_DATA",
      `function-calling case: entry ${JSON.stringify(id)} has no category`,
    );
  const path = join(folder, `${name}.jsonl`);
  const lines = READ.get(path) ?? readLines(path);
  READ.set(path, lines);
  const line = (await lines).get(id);
  if (line === undefined) {
    throw new HoneError(
      "HONE_ERR_DATA",
      `function-calling case: no entry ${JSON.stringify(id)} in ${name}.jsonl`,
      {
        details: { folder },
      },
    );
  }
  return line;
}

/** Lines of a category file by their id. The text is kept: JSON.parse would make 1.0 and 1 the same. */
async function readLines(path: string): Promise<Lines> {
  const text = await readFile(path, "utf8").catch((cause: unknown) => {
    throw new HoneError("HONE_ERR_DATA", `function-calling case: cannot read ${path}`, {
      cause,
      hint: "A case names its entry by id; the category files must lie beside the case file.",
    });
  });
  const found = new Map<string, string>();
  for (const [index, line] of text.split("\n").entries()) {
    if (line.trim() === "") continue;
    const value = readJson(line);
    const id =
      value?.type === "dict"
        ? value.entries.find(([key]) => key.type === "str" && key.value === "id")?.[1]
        : undefined;
    if (id?.type !== "str")
      throw new HoneError("HONE_ERR_DATA", `${path}:${index + 1}: not an entry { id, function, ... }`);
    found.set(id.value, line);
  }
  return found;
}
