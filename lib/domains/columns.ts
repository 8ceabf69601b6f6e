import { z } from "zod";
import { normalized } from "../data/content.ts";
import { jsonAt, type RawRow } from "../data/raw-row.ts";
import { isBad, readFields } from "../data/row-reader.ts";
import type { ChatMessage } from "../records.ts";

/*
 * Column names that published sets and users give to questions and answers. All readers of users' rows use these
 * tables, so that a name means the same in all of them.
 */

type Row = Readonly<Record<string, unknown>>;
type Bad = { readonly bad: string };

/** The question of a row, and the column it was taken from. */
export interface AskedColumn {
  readonly column: string;
  /** The question as plain text. */
  readonly task: string;
  /** The turns, if the column has turns, without assistant turns at the end. */
  readonly turns?: readonly ChatMessage[];
}

/** The answer of a row, and the column from which it was taken. */
export interface AnswerColumn {
  readonly column: string;
  /** A text, a number as the file writes it, or any other JSON value. */
  readonly value: unknown;
  /** True if the column has a worked solution, of which only a part is the answer. */
  readonly isWorked: boolean;
}

const text = z.string().trim().min(1);
/** The content of a turn: a text, or a list of text parts as in OpenAI's API. */
const content = z.union([
  text,
  z
    .array(z.looseObject({ type: z.literal("text"), text: z.string() }))
    .min(1)
    .transform((parts) => parts.map((part) => part.text).join("")),
]);
const turnsSchema = z.array(z.looseObject({ role: text, content })).min(1);
const sharedTurnsSchema = z
  .array(
    z.union([
      z.looseObject({ from: text, value: text }).transform(({ from, value }) => asTurn(from, value)),
      z.looseObject({ role: text, content }),
    ]),
  )
  .min(1);

const ROLES: ReadonlyMap<string, string> = new Map([
  ["human", "user"],
  ["gpt", "assistant"],
  ["model", "assistant"],
  ["chatgpt", "assistant"],
  ["bing", "assistant"],
  ["function", "tool"],
  ["observation", "tool"],
]);
const asTurn = (from: string, value: string): ChatMessage => ({
  role: ROLES.get(from) ?? from,
  content: value,
});

type Read = (value: unknown, column: string, row: Row) => Omit<AskedColumn, "column"> | Bad;

const readText: Read = (value, column) => {
  const words = typeof value === "string" ? value.trim() : "";
  if (words !== "") return { task: words };
  const read = readFields(text, value, column);
  return isBad(read) ? read : { task: read };
};

const readTurns =
  (schema: z.ZodType<readonly ChatMessage[]>): Read =>
  (value, column) => {
    const read = readFields(schema, value, column);
    if (isBad(read)) return read;
    const turns = openTurns(read);
    if (turns.length === 0) return { bad: `${column}: only what an assistant said` };
    return { task: turns.map(({ content }) => content).join("\n\n"), turns };
  };

const messages = readTurns(turnsSchema as unknown as z.ZodType<readonly ChatMessage[]>);
const conversations = readTurns(sharedTurnsSchema as unknown as z.ZodType<readonly ChatMessage[]>);
const textOrTurns: Read = (value, column, row) =>
  (typeof value === "string" ? readText : messages)(value, column, row);

const instruction: Read = (value, column, row) => {
  const read = readText(value, column, row);
  const input = row["input"];
  if (isBad(read) || typeof input !== "string" || input.trim() === "") return read;
  return { task: `${read.task}\n\n${input.trim()}` };
};

interface Place {
  readonly column: string;
  /**
   * Path of a nested column, for example ["reward_model", "ground_truth"]; undefined for a top-level column.
   */
  readonly path: readonly string[] | undefined;
}

/** Adds the columns' paths, split once here because every row is searched for all columns. */
function placed<T extends { readonly column: string }>(columns: readonly T[]): readonly (T & Place)[] {
  return columns.map((one) => ({
    ...one,
    path: one.column.includes(".") ? one.column.split(".") : undefined,
  }));
}

/**
 * Columns with a question, the most reliable first. This reader supported `question`, `problem` and
 * `messages` before the others.
 */
const QUESTIONS = placed<{ readonly column: string; readonly read: Read }>([
  { column: "question", read: readText },
  { column: "problem", read: readText },
  { column: "messages", read: messages },
  { column: "prompt", read: textOrTurns },
  { column: "query", read: readText },
  { column: "instruction", read: instruction },
  { column: "conversations", read: conversations },
  { column: "responses_create_params.input", read: textOrTurns },
]);
/**
 * Columns that published sets fill beside `messages` with the same question: the turns are used, the text
 * only repeats them.
 */
const BESIDE_MESSAGES: ReadonlySet<string> = new Set(["question", "problem"]);

/** The turns up to the one to answer: the policy must not see a recorded answer at the end. */
function openTurns<T extends ChatMessage>(turns: readonly T[]): readonly T[] {
  return turns.slice(0, turns.findLastIndex(({ role }) => role !== "assistant") + 1);
}

/**
 * The question of a row. Undefined if no column has one. Bad if the only such column has a wrong type, or if two
 * columns differ: then both are named.
 */
export function askedIn(row: Row): AskedColumn | Bad | undefined {
  let bad: Bad | undefined;
  const found: AskedColumn[] = [];
  for (const { column, path, read } of QUESTIONS) {
    const value = path === undefined ? row[column] : valueAt(row, path);
    if (value === undefined || value === null) continue;
    const one = read(value, column, row);
    if (isBad(one)) bad ??= one;
    else found.push({ column, ...one });
  }
  // accepts a row whose column of an older name is valid, even if its column of a newer name is malformed
  if (bad !== undefined && (found.length === 0 || isOfOlder(bad))) return bad;
  const [first, ...others] = found;
  if (first === undefined || others.length === 0) return first;
  return chosen(first, others);
}

const isOfOlder = ({ bad }: Bad): boolean => /^(?:question|problem|messages)\b/.test(bad);

function chosen(first: AskedColumn, others: readonly AskedColumn[]): AskedColumn | Bad {
  const turns = [first, ...others].find(({ column }) => column === "messages");
  const other = others.find(
    (one) => !(one === turns && BESIDE_MESSAGES.has(first.column)) && !isSame(first, one),
  );
  if (other !== undefined)
    return { bad: `${first.column} and ${other.column}: both contain the question, and they differ` };
  return turns === undefined || turns === first ? first : { ...turns, task: first.task };
}

/** True if two columns ask the same question: in the same words, or because one is the last turn of the other. */
function isSame(one: AskedColumn, other: AskedColumn): boolean {
  const words = wordings(one);
  return wordings(other).some((wording) => words.includes(wording));
}

const wordings = ({ task, turns = [] }: AskedColumn): string[] =>
  [task, ...turns.slice(-1).map(({ content }) => String(content))].map(normalized);

/**
 * Columns with an answer, the most reliable first. Published sets have several of the "ordered" ones in a
 * row, so only the first present counts; "last" ones count only if there is no other.
 */
const ANSWERS = placed<{
  readonly column: string;
  readonly isWorked?: true;
  readonly rank: "ordered" | "equal" | "last";
}>([
  { column: "final_answer", rank: "ordered" },
  { column: "answer", rank: "ordered" },
  { column: "solution", isWorked: true, rank: "ordered" },
  { column: "ground_truth_solution", isWorked: true, rank: "ordered" },
  { column: "ground_truth", rank: "equal" },
  { column: "expected_answer", rank: "equal" },
  { column: "reward_model.ground_truth", rank: "equal" },
  { column: "verification_info.ground_truth", rank: "equal" },
  { column: "metadata.expected_answer", rank: "last" },
  { column: "label", rank: "last" },
  { column: "gold_standard_solution", isWorked: true, rank: "last" },
]);

/** Names of the answer columns; a blank text in one of them counts as no answer. */
export const ANSWER_COLUMNS: ReadonlySet<string> = new Set(ANSWERS.map(({ column }) => column));

/**
 * All answers that a row states, the preferred one first. Uses one "last" column, and only if no other column
 * has an answer.
 */
export function answersIn(row: Row, raw: RawRow): readonly AnswerColumn[] {
  const found: AnswerColumn[] = [];
  let isOrdered = false;
  for (const { column, path, isWorked = false, rank } of ANSWERS) {
    if (rank === "ordered" && isOrdered) continue;
    if (rank === "last" && found.length > 0) continue;
    const value = answerAt(row, { column, path }, raw);
    if (value === undefined || value === null || (typeof value === "string" && value.trim() === "")) continue;
    found.push({ column, value, isWorked });
    isOrdered ||= rank === "ordered";
  }
  return found;
}

/** The spelling of a number that has more digits than a double can hold. */
const LONG_NUMBER = /^-?\d+(?:\.\d+)?$/;
const SURE_DIGITS = 15;

function answerAt(row: Row, { column, path }: Place, raw: RawRow): unknown {
  const value = path === undefined ? row[column] : valueAt(row, path);
  if (typeof value === "string") return value.trim();
  if (value === undefined && path === undefined) return undefined;
  const isHidden = value === undefined && path !== undefined && typeof row[path[0]!] === "string";
  if (isHidden) return unpacked(jsonAt(raw, path));
  if (typeof value !== "number" || String(value).replace(/\D/g, "").length <= SURE_DIGITS) return value;
  const written = raw.text === undefined ? undefined : jsonAt(raw, path ?? [column])?.trim();
  return written !== undefined && LONG_NUMBER.test(written) ? written : value;
}

/** Parses a column that holds a list or object as JSON text; other values stay text. */
function unpacked(json: string | undefined): unknown {
  if (json === undefined || !/^\s*[[{]/.test(json)) return json?.trim();
  try {
    return JSON.parse(json) as unknown;
  } catch {
    return json.trim();
  }
}

/** The value at a path such as ["reward_model", "ground_truth"]. Runs for every row, so it allocates nothing. */
function valueAt(row: Row, path: readonly string[]): unknown {
  let inner: unknown = row;
  for (const key of path) {
    if (typeof inner !== "object" || inner === null) return undefined;
    inner = (inner as Row)[key];
  }
  return inner;
}
