import { z } from "zod";
import { UNASKED } from "../data/census.ts";
import { UserTurn } from "../data/content.ts";
import type { RawRow } from "../data/raw-row.ts";
import {
  type DatasetOptions,
  fill,
  isBad,
  type OptionSchemas,
  type RowDraft,
  type RowOutcome,
  type RowReader,
  readFields,
} from "../data/row-reader.ts";
import { HoneError } from "../errors.ts";
import { membersOf } from "../shared/text/json-text.ts";
import { ANSWER_COLUMNS, type AnswerColumn, type AskedColumn, answersIn, askedIn } from "./columns.ts";
import { describeTools } from "./function-calling/read/bfcl-prompt.ts";
import { hiddenChoices } from "./hidden-choices.ts";
import { askedForm } from "./math/read/asked-form.ts";
import { statedAnswer } from "./math/read/stated-answer.ts";

export interface JsonlOptions extends DatasetOptions {
  /** Default: the recipe's name of the domain. */
  readonly domain?: string | undefined;
  /** Verifier of the rows. Default: the one with the domain's name. */
  readonly verifier?: string | undefined;
}

/** Options, and facts about the source's use in the recipe. */
export interface JsonlReading extends JsonlOptions {
  /** False where no verifier reads the reference: rows without an answer are problems too. Default true. */
  readonly needsReference?: boolean | undefined;
}

const text = z.string().trim().min(1);
/** OlympiadBench and other sets store an answer, or the parts of a solution, as a list. */
const onlyOne = z.tuple([text], "not one answer").transform(([answer]) => answer);
const solutions = z.array(text).transform((all) => all.join("\n\n"));
const toolSchema = z.looseObject({
  type: z.literal("function").optional(),
  function: z.looseObject({ name: text }),
});
const number = z.union([z.number(), z.bigint()]);
const description = {
  tools: z.preprocess(toolList, z.array(toolSchema).optional()).optional(),
  reference: z.unknown().optional(),
  // other data sets use these column names for values of other types, which are ignored
  family: z
    .union([text, number.transform(String)])
    .optional()
    .catch(undefined),
  level: z.unknown().transform(levelOf).optional(),
  gold: text.optional().catch(undefined),
};
const answerFields = {
  answer: z.union([text, number, onlyOne]),
  final_answer: z.union([text, number, onlyOne]),
  solution: z.union([text, number, solutions]),
  ground_truth_solution: text,
};
const fields = z.object({
  ...description,
  answer: answerFields.answer.optional(),
  final_answer: answerFields.final_answer.optional(),
  solution: answerFields.solution.optional(),
  ground_truth_solution: answerFields.ground_truth_solution.optional(),
});
/** Fields of rows that a reward of the user's judges: their answers may have any type. */
const freeFields = z.object({
  ...description,
  answer: z.union([answerFields.answer, z.unknown()]).optional(),
  final_answer: z.union([answerFields.final_answer, z.unknown()]).optional(),
  solution: z.union([answerFields.solution, z.unknown()]).optional(),
  ground_truth_solution: z.union([answerFields.ground_truth_solution, z.unknown()]).optional(),
});
type Row = z.infer<typeof freeFields>;
type Columns = Readonly<Record<string, unknown>>;

/**
 * Parses a column of tools, which some sets hold as JSON text because their tools differ in shape; undefined
 * if it is empty.
 */
function toolList(value: unknown): unknown {
  if (typeof value !== "string") return Array.isArray(value) && value.length === 0 ? undefined : value;
  if (value.trim() === "") return undefined;
  try {
    return toolList(JSON.parse(value));
  } catch {
    return value; // not JSON: the schema reports it
  }
}

/** A whole number from 0, or the only one in a text such as "Level 3"; undefined for anything else. */
function levelOf(value: unknown): number | undefined {
  const said = typeof value === "string" ? /^[^\d-]*(\d{1,6})\D*$/.exec(value)?.[1] : value;
  const level = typeof said === "object" || typeof said === "boolean" ? Number.NaN : Number(said);
  return Number.isSafeInteger(level) && level >= 0 ? level : undefined;
}

/**
 * Treats null fields as absent: sets merged from several have all columns in every row. Also treats blank answers as
 * absent, as in DeepScaleR's empty solutions.
 */
function withoutBlanks(row: unknown): unknown {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return row;
  const columns = row as Columns;
  const isAbsent = (field: string) => columns[field] === null || isBlankAnswer(field, columns[field]);
  if (!Object.keys(columns).some(isAbsent)) return row;
  return Object.fromEntries(Object.entries(columns).filter(([field]) => !isAbsent(field)));
}

const isBlankAnswer = (field: string, value: unknown): boolean =>
  typeof value === "string" && ANSWER_COLUMNS.has(field) && value.trim() === "";

const TEXT_FIELDS = [
  "answer",
  "final_answer",
  "solution",
  "ground_truth_solution",
  "family",
  "gold",
] as const;

/**
 * Equivalent to `readFields(fields, …)` at a tenth of its cost for a row whose fields are texts; undefined for any
 * other, for which the schema finds the fault.
 */
function textFields(columns: unknown): Row | undefined {
  if (typeof columns !== "object" || columns === null || Array.isArray(columns)) return undefined;
  const { tools, level, reference } = columns as Columns;
  if (tools !== undefined || level !== undefined) return undefined;
  const row: Row = { reference };
  for (const field of TEXT_FIELDS) {
    const value = (columns as Columns)[field];
    if (value === undefined) continue;
    const words = typeof value === "string" ? value.trim() : "";
    if (words === "") return undefined;
    row[field] = words;
  }
  return row;
}

/** Options for the user's own rows in addition to DatasetOptions. */
export const jsonlOptions: OptionSchemas<JsonlOptions> = {
  domain: z.string().min(1).optional(),
  verifier: z.string().min(1).optional(),
};

/**
 * The user's own rows, for any domain: a question, optionally `tools` (JSON Schema, as chat templates take them), and
 * `reference`, the verifier's input, or an answer, short for { answer }. columns.ts has the column names of both;
 * reports name the column used, and two that differ make the row bad. For the verifier `math` the answer is the text
 * after `####`, or in a box, and a worked solution must end in one. Assistant turns at the end are dropped. Optional:
 * `family`, `level`, `gold` (a response that the verifier must accept). Throws HONE_ERR_CONFIG if the domain is
 * unknown.
 */
export function jsonl({ domain, verifier, needsReference = true }: JsonlReading): RowReader<JsonlOptions> {
  const [named, judge] = [domain ?? verifier, verifier ?? domain];
  if (named === undefined || judge === undefined) {
    throw new HoneError("HONE_ERR_CONFIG", "jsonl: nothing says which domain the rows are of", {
      hint: "Give the source a verifier, or read it through a recipe.",
    });
  }
  return {
    domain: named,
    verifier: judge,
    options: jsonlOptions,
    open:
      ({ template }) =>
      (raw) =>
        outcomeOf(raw, { template, judge, needsReference }),
  };
}

interface Reading {
  readonly template: string | undefined;
  readonly judge: string;
  readonly needsReference: boolean;
}

/** If a row's columns are not found, retries with their names in lower case: spreadsheets have Question and Answer. */
function outcomeOf(raw: RawRow, reading: Reading): RowOutcome {
  const outcome = namedOutcome(raw, reading);
  if (!("bad" in outcome) || !outcome.bad.startsWith("row: neither")) return outcome;
  const lower = inLowerCase(raw);
  return lower === undefined ? outcome : namedOutcome(lower, reading);
}

/** The row with its column names in lower case; undefined if they already are, or if two would collide. */
function inLowerCase(raw: RawRow): RawRow | undefined {
  const { value, text } = raw;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const names = Object.keys(value).map((name) => name.toLowerCase());
  const isSame = Object.keys(value).every((name, i) => name === names[i]);
  if (isSame || new Set(names).size < names.length) return undefined;
  const lower = Object.fromEntries(Object.values(value).map((inner, i) => [names[i]!, inner]));
  if (text === undefined) return { ...raw, value: lower };
  const members = [...membersOf(text)].map(([name, json]) => `${JSON.stringify(name.toLowerCase())}:${json}`);
  return { ...raw, value: lower, text: `{${members.join()}}` };
}

function namedOutcome(raw: RawRow, { template, judge, needsReference }: Reading): RowOutcome {
  const columns = withoutBlanks(raw.value);
  const schema = judge === "math" && needsReference ? fields : freeFields;
  const row = textFields(columns) ?? readFields<Row>(schema, columns);
  if (isBad(row)) return row;
  const asked = askedIn(columns as Columns);
  if (asked === undefined) return { bad: "row: neither question nor messages" };
  if (isBad(asked)) return asked;
  const tools = row.tools && writtenTools(raw, row.tools);
  const draft = draftOf(row, asked, { tools, template });
  if (row.reference !== undefined) return draft;
  const answers = answersIn(withRead(columns as Columns, row), raw);
  const [answer] = answers;
  if (answer === undefined) return needsReference ? { bad: "row: neither reference nor answer" } : draft;
  const bad = hiddenChoices(raw.value, draft.question);
  if (bad !== undefined) return { bad };
  const other = judge === "math" ? otherAbility(columns as Columns, answer) : undefined;
  return other ?? withAnswer(draft, answers, { judge, needsReference });
}

/** The tools as the file writes them, with every digit. */
function writtenTools({ value, text }: RawRow, tools: unknown): string {
  const written = (value as Columns)["tools"];
  if (typeof written === "string") return written;
  return (text && membersOf(text).get("tools")) ?? JSON.stringify(tools);
}

/** The columns, where a list of answers or solutions is replaced by what the reader made of it. */
function withRead(columns: Columns, row: Row): Columns {
  const isList = ["answer", "final_answer", "solution"].some((column) => Array.isArray(columns[column]));
  return isList ? { ...columns, ...row } : columns;
}

/** Rejects verl rows that are not about mathematics, and Tülu rows that name a function. */
function otherAbility({ ability }: Columns, { column, value }: AnswerColumn): RowOutcome | undefined {
  if (column === "ground_truth" && typeof value === "string" && /^\s*\{\s*"func_name"/.test(value))
    return { leftOut: "ground_truth names a function: not mathematics" };
  const isOther =
    column === "reward_model.ground_truth" && typeof ability === "string" && !/^math/i.test(ability);
  return isOther ? { leftOut: `ability ${ability}: not mathematics` } : undefined;
}

/** A template contains the whole question, so the row's own turns and tools are not passed on. */
function draftOf(
  row: Row,
  asked: AskedColumn,
  { tools, template }: { readonly tools: string | undefined; readonly template: string | undefined },
): RowDraft {
  const { family = "jsonl", level = 0, gold } = row;
  const { task, turns } = asked;
  const words = row.tools ? `${describeTools(row.tools.map((tool) => tool.function))}\n\n${task}` : task;
  const structured = template === undefined && (turns !== undefined || tools !== undefined);
  const asksAlone = turns === undefined && tools === undefined;
  const messages = turns ?? (asksAlone ? [] : [{ role: "user", content: task }]);
  const draft = {
    content: asksAlone ? new UserTurn(task) : JSON.stringify([messages, tools ?? null]),
    question: template === undefined ? words : fill(template, words),
    family,
    level,
    reference: row.reference,
    askedFrom: asked.column,
  };
  if (!structured && gold === undefined) return draft;
  return {
    ...draft,
    ...(structured && { messages, ...(tools !== undefined && { tools }) }),
    ...(gold !== undefined && { gold: () => [gold] }),
  };
}

interface Stated {
  readonly answer: unknown;
  /** Where the answer was found, as in "answer, after ####". */
  readonly from: string;
}

/**
 * Adds { answer } to the draft and, for mathematics, a response that states it, which the verifier must
 * accept: in the form that the question asks for, else in a box.
 */
function withAnswer(
  draft: RowDraft,
  answers: readonly AnswerColumn[],
  { judge, needsReference }: Pick<Reading, "judge" | "needsReference">,
): RowOutcome {
  const isMath = judge === "math";
  const stated = answers.map((one) =>
    isMath ? mathIn(one) : { answer: textOf(one.value), from: one.column },
  );
  const [taken, ...others] = stated.filter((one): one is Stated => !isBad(one));
  if (taken === undefined) return needsReference ? (stated[0] as { bad: string }) : draft;
  const other = others.find(({ answer }) => JSON.stringify(answer) !== JSON.stringify(taken.answer));
  if (other !== undefined)
    return { bad: `${columnIn(taken)} and ${columnIn(other)}: both state the answer, and differ` };
  if (!isMath) return { ...draft, reference: { answer: taken.answer }, answerFrom: taken.from };
  return mathDraft(draft, taken);
}

const columnIn = ({ from }: Stated): string => from.split(",", 1)[0]!;

/** Numbers and texts as text; any other value unchanged. */
const textOf = (value: unknown): unknown =>
  typeof value === "number" || typeof value === "bigint" ? String(value) : value;

const severalAnswers = z.array(z.union([text, number]).transform(String)).min(1);

function mathIn({ column, value, isWorked }: AnswerColumn): Stated | { readonly bad: string } {
  if (Array.isArray(value)) {
    const read = readFields(severalAnswers, value, column);
    return isBad(read) ? read : { answer: read.length === 1 ? read[0] : read, from: column };
  }
  const known = textOf(value);
  if (typeof known !== "string") return { bad: `${column}: invalid input, received ${typeof value}` };
  const stated = statedAnswer(column, known, isWorked);
  return stated ?? { bad: `${column}: states no answer, neither after #### nor in \\boxed` };
}

function mathDraft(draft: RowDraft, { answer, from }: Stated): RowDraft {
  const form = askedForm(promptOf(draft));
  const first = String(Array.isArray(answer) ? answer[0] : answer);
  return {
    content: draft.content,
    question: draft.question,
    ...(draft.messages && { messages: draft.messages }),
    ...(draft.tools !== undefined && { tools: draft.tools }),
    family: draft.family,
    level: draft.level,
    reference: form?.after === undefined ? { answer } : { answer, after: form.after },
    askedFrom: draft.askedFrom!,
    answerFrom: form === undefined ? unasked(from) : from,
    gold: draft.gold ?? (() => [form?.stated(first) ?? `\\boxed{${first}}`]),
  };
}

function promptOf({ question, messages }: RowDraft): string {
  if (messages === undefined) return question;
  return [question, ...messages.map(({ content }) => String(content))].join("\n\n");
}

const notes = new Map<string, string>();

/** A cached text for each place of an answer, for rows whose question does not ask for a box. */
function unasked(from: string): string {
  const known = notes.get(from);
  if (known !== undefined) return known;
  const note = `${from}${UNASKED}`;
  notes.set(from, note);
  return note;
}
