import { z } from "zod";
import { HoneError } from "../../errors.ts";
import { readJson } from "../../python/json.ts";
import { membersOf } from "../../shared/text/json-text.ts";
import { RowsBeside } from "../case-rows.ts";
import { checked } from "../checked.ts";
import type { CaseReader } from "../verify-case.ts";
import { categoryOf } from "./entry.ts";
import type { Dialect } from "./judging.ts";
import { functionCalling } from "./verify.ts";

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

const what = "function-calling case";
/** Lines of category files. Keeps the text: JSON.parse would make 1.0 and 1 equal. */
const entries = new RowsBeside<string>({
  what,
  noun: "entry",
  shape: "an entry { id, function, ... }",
  parse(line) {
    const value = readJson(line);
    if (value?.type !== "dict") return undefined;
    const id = value.entries.find(([key]) => key.type === "str" && key.value === "id")?.[1];
    return id?.type === "str" ? [id.value, line] : undefined;
  },
});

/**
 * Reads { response, entry, category?, dialect? }: `entry` is the id of a line of <category>.jsonl in the folder of
 * the case file, or such a line itself as an object.
 */
export const readCase: CaseReader = async (row, folder, text) => {
  const { response, entry, category, dialect, partial } = checked(rowSchema, row, what, "row");
  const own = text === undefined ? undefined : membersOf(text).get("entry");
  const line = typeof entry === "string" ? await entryLine(entry, category, folder) : (own ?? entry);
  const told =
    dialect ?? dialectOf(typeof entry === "string" ? (category ?? categoryOf(entry)) : category, partial);
  return {
    verifier: functionCalling,
    completion: { text: response, finish: "stop" },
    reference: { entry: line, ...(told && { dialect: told }) },
  };
};

/** Rows with a partial-credit label or of a relevance category write calls as JSON. In other rows tags show the dialect. */
function dialectOf(category: string | undefined, partial: number | undefined): Dialect | undefined {
  return partial !== undefined || /relevance/.test(category ?? "") ? "tool_calls" : undefined;
}

function entryLine(id: string, category: string | undefined, folder: string): Promise<string> {
  const name = category ?? categoryOf(id);
  if (name === undefined)
    throw new HoneError("HONE_ERR_DATA", `${what}: entry ${JSON.stringify(id)} has no category`);
  return entries.find(folder, `${name}.jsonl`, id);
}
