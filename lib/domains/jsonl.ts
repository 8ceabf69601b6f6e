import { z } from "zod";
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
import { membersOf } from "../json-text.ts";
import { describeTools } from "./function-calling/read/bfcl-prompt.ts";
import { hiddenChoices } from "./hidden-choices.ts";
import { askedForm } from "./math/read/asked-form.ts";
import { statedAnswer } from "./math/read/stated-answer.ts";

export interface JsonlOptions extends DatasetOptions {
  /** Default: what the recipe calls the domain. */
  readonly domain?: string | undefined;
  /** Who judges the rows. Default: the verifier that is called like the domain. */
  readonly verifier?: string | undefined;
}

const text = z.string().trim().min(1);
/** OlympiadBench lists its answers, and its solutions. */
const onlyOne = z.tuple([text], "not one answer").transform(([answer]) => answer);
const solutions = z.array(text).transform((all) => all.join("\n\n"));
const toolSchema = z.looseObject({
  type: z.literal("function").optional(),
  function: z.looseObject({ name: text }),
});
const number = z.union([z.number(), z.bigint()]);
/** Where a row may have its answer, the surest first. */
const ANSWERS = ["final_answer", "answer", "solution", "ground_truth_solution"] as const;
/** Of these, what is worked out and not the answer alone. */
const WORKED: ReadonlySet<string> = new Set(["solution", "ground_truth_solution"]);
const fields = z
  .object({
    question: text.optional(),
    problem: text.optional(),
    messages: z
      .array(z.looseObject({ role: text, content: text }))
      .min(1)
      .optional(),
    tools: z.array(toolSchema).min(1).optional(),
    reference: z.unknown().optional(),
    answer: z.union([text, number]).optional(),
    final_answer: z.union([text, number, onlyOne]).optional(),
    solution: z.union([text, solutions]).optional(),
    ground_truth_solution: text.optional(),
    family: text.optional(),
    level: z.int().min(0).optional(),
    gold: text.optional(),
  })
  .refine(
    (row) => (row.question ?? row.problem ?? row.messages) !== undefined,
    "neither question nor messages",
  )
  .refine(
    (row) => row.reference !== undefined || ANSWERS.some((field) => row[field] !== undefined),
    "neither reference nor answer",
  );
/**
 * A field that holds null is as good as absent: sets put together from several have all columns in every row. So is an
 * answer that is blank, as DeepScaleR's solutions are where nobody wrote one.
 */
const rowSchema = z.preprocess(withoutBlanks, fields);
type Row = z.infer<typeof rowSchema>;

function withoutBlanks(row: unknown): unknown {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return row;
  const isBlank = (field: string, value: unknown) =>
    typeof value === "string" && value.trim() === "" && (ANSWERS as readonly string[]).includes(field);
  const entries = Object.entries(row);
  const isAbsent = ([field, value]: (typeof entries)[number]) => value === null || isBlank(field, value);
  return entries.some(isAbsent) ? Object.fromEntries(entries.filter((entry) => !isAbsent(entry))) : row;
}

/** What a recipe may say of rows of its own beside DatasetOptions. */
export const jsonlOptions: OptionSchemas<JsonlOptions> = {
  domain: z.string().min(1).optional(),
  verifier: z.string().min(1).optional(),
};

/**
 * Rows of the user's own, for any domain: `question` or `messages`, perhaps `tools` (JSON Schema, as chat templates take
 * them), and `reference`, what the verifier reads; `answer` is short for { answer }. Published shapes are read too:
 * `problem` for the question, `final_answer`, `answer`, and for the verifier `math` an answer after `####` or in a box, or
 * a `solution` (`ground_truth_solution`) that ends in one. Turns of an assistant at the end are left away. Optional: `family`, `level`, `gold` (a response that the verifier must accept).
 * Throws HONE_ERR_CONFIG where nothing says which domain it is.
 */
export function jsonl({ domain, verifier }: JsonlOptions): RowReader<JsonlOptions> {
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
    open({ template }) {
      return (raw) => {
        const row = readFields(rowSchema, raw.value);
        if (isBad(row)) return row;
        if (row.messages && turnsOf(row.messages).length === 0)
          return { bad: "messages: only what an assistant said" };
        const tools =
          row.tools && ((raw.text && membersOf(raw.text).get("tools")) ?? JSON.stringify(row.tools));
        const draft = draftOf(row, tools, template);
        if (row.reference !== undefined) return draft;
        const bad = hiddenChoices(raw.value, draft.question);
        return bad === undefined ? withAnswer(draft, statedIn(row, raw.text), judge === "math") : { bad };
      };
    },
  };
}

/** Up to the turn that is to be answered: a recorded answer at the end (OpenR1-Math) is not shown to the policy. */
function turnsOf(messages: Row["messages"] & {}): Row["messages"] & {} {
  return messages.slice(0, messages.findLastIndex(({ role }) => role !== "assistant") + 1);
}

/** A template says all there is to ask: then the row's own turns and tools are not handed on beside the question. */
function draftOf(row: Row, tools: string | undefined, template: string | undefined): RowDraft {
  const { family = "jsonl", level = 0, gold } = row;
  const messages = row.messages && turnsOf(row.messages);
  const task = row.question ?? row.problem ?? messages!.map(({ content }) => content).join("\n\n");
  const words = row.tools ? `${describeTools(row.tools.map((tool) => tool.function))}\n\n${task}` : task;
  const structured = template === undefined && (messages !== undefined || tools !== undefined);
  const asksAlone = messages === undefined && tools === undefined;
  const draft = {
    content: asksAlone ? contentOf(task) : JSON.stringify([turnsAs(messages, task), tools ?? null]),
    question: template === undefined ? words : fill(template, words),
    family,
    level,
    reference: row.reference,
  };
  if (!structured && gold === undefined) return draft;
  return {
    ...draft,
    ...(structured && { messages: turnsAs(messages, task), ...(tools !== undefined && { tools }) }),
    ...(gold !== undefined && { gold: () => [gold] }),
  };
}

/** JSON of [[one turn of the user's], null]. */
const contentOf = (task: string) => `[[{"role":"user","content":${JSON.stringify(task)}}],null]`;
const turnsAs = (messages: Row["messages"], task: string) => messages ?? [{ role: "user", content: task }];

interface Stated {
  readonly field: (typeof ANSWERS)[number];
  readonly text: string;
}

/** A number with more digits than its value has here, as the file writes it. */
const LONG_NUMBER = /^-?\d+(?:\.\d+)?$/;
const SURE_DIGITS = 15;

function statedIn(row: Row, json: string | undefined): Stated {
  const field = ANSWERS.find((name) => row[name] !== undefined)!;
  const text = String(row[field]);
  const isCut = typeof row[field] === "number" && text.replace(/\D/g, "").length > SURE_DIGITS;
  const written = isCut && json !== undefined ? membersOf(json).get(field)?.trim() : undefined;
  return { field, text: written !== undefined && LONG_NUMBER.test(written) ? written : text };
}

/**
 * The draft with { answer }, and for mathematics a response that states it, for the verifier to accept: in the form that
 * the question asks for, else in a box.
 */
function withAnswer(draft: RowDraft, { field, text }: Stated, isMath: boolean): RowOutcome {
  if (!isMath) return { ...draft, reference: { answer: text }, answerFrom: field };
  const stated = statedAnswer(field, text, WORKED.has(field));
  if (stated === undefined) return { bad: `${field}: states no answer, neither after #### nor in \\boxed` };
  const { answer, from } = stated;
  const form = askedForm(promptOf(draft));
  return {
    content: draft.content,
    question: draft.question,
    ...(draft.messages && { messages: draft.messages }),
    ...(draft.tools !== undefined && { tools: draft.tools }),
    family: draft.family,
    level: draft.level,
    reference: form?.after === undefined ? { answer } : { answer, after: form.after },
    answerFrom: form === undefined ? unasked(from) : from,
    gold: draft.gold ?? (() => [form?.stated(answer) ?? `\\boxed{${answer}}`]),
  };
}

function promptOf({ question, messages }: RowDraft): string {
  if (messages === undefined) return question;
  return [question, ...messages.map(({ content }) => String(content))].join("\n\n");
}

const notes = new Map<string, string>();

/** One text for each place of an answer, for the rows whose question does not ask for a box. */
function unasked(from: string): string {
  const known = notes.get(from);
  if (known !== undefined) return known;
  const note = `${from}; the question does not ask for \\boxed`;
  notes.set(from, note);
  return note;
}
