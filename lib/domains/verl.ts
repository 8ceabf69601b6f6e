import { z } from "zod";
import { jsonAt, type RawRow } from "../data/raw-row.ts";
import { fill, isBad, type RowOutcome, type RowReader, readFields } from "../data/row-reader.ts";
import { HoneError } from "../errors.ts";
import type { ChatMessage } from "../records.ts";
import { readTests } from "./code/read/tests.ts";
import { type JsonlOptions, jsonlOptions } from "./jsonl.ts";
import { askedForm } from "./math/read/asked-form.ts";

export type VerlOptions = JsonlOptions;

/** Abilities whose rows can be judged, by the verifier of the same name. */
const SUBJECTS = ["math", "code"] as const;
type Subject = (typeof SUBJECTS)[number];

const text = z.string().trim().min(1);
const asTurns = (prompt: unknown) =>
  typeof prompt === "string" ? [{ role: "user", content: prompt }] : prompt;
const some = z.array(z.unknown()).nullish();
const rowSchema = z.object({
  data_source: z.string().nullish(),
  prompt: z.preprocess(asTurns, z.array(z.object({ role: text, content: text })).min(1)),
  ability: z.string().nullish(),
  reward_model: z.object({ style: z.string().nullish(), ground_truth: z.unknown().optional() }),
  images: some,
  videos: some,
});
type Row = z.infer<typeof rowSchema>;

/**
 * Rows in verl's format, of mathematics or code: DAPO-Math-17k, Skywork-OR1, Eurus-2 and users' own conversions. Uses
 * the turns of `prompt` unchanged and accepts the answer in the form that they request. Adds a sentence to a prompt
 * that requests no form, since an answer without a form cannot be read. A source has one verifier, `math` or `code`;
 * rows of the other ability are left out. Throws HONE_ERR_CONFIG if neither is named.
 * Source: verl, examples/data_preprocess and utils/reward_score; data set cards BytedTsinghua-SIA/DAPO-Math-17k and
 * Skywork/Skywork-OR1-RL-Data.
 */
export function verl({ domain, verifier = domain }: VerlOptions): RowReader<VerlOptions> {
  const subject = SUBJECTS.find((known) => known === verifier);
  if (subject === undefined)
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `verl: rows of this shape are judged by math or code, not ${verifier}`,
      {
        hint: 'Give the source a verifier: { kind: "verl", path, verifier: "math" }.',
      },
    );
  return {
    domain: domain ?? subject,
    verifier: subject,
    options: jsonlOptions,
    columns: Object.keys(rowSchema.shape),
    open({ template }) {
      return (raw) => {
        const row = readFields(rowSchema, raw.value);
        if (isBad(row)) return row;
        const other = otherThan(subject, row);
        if (other !== undefined) return other;
        return subject === "math" ? mathDraft(row, template) : codeDraft(row, raw, template);
      };
    },
  };
}

const ABILITIES: Readonly<Record<Subject, RegExp>> = {
  math: /^math/i,
  code: /^(?:cod(?:e|ing)|programming)/i,
};
/** Names of data sources with a single ability, for rows that do not name theirs. */
const SOURCES: Readonly<Record<Subject, RegExp>> = {
  math: /math|gsm8k|aime|amc|numina|olympiad|deepscaler|orz/i,
  code: /code|coding|apps|taco|lcb|humaneval|mbpp/i,
};

/** Reason why a row does not suit the verifier of a subject; undefined if it does. */
function otherThan(
  subject: Subject,
  { ability, data_source, reward_model: { style }, images, videos }: Row,
): RowOutcome | undefined {
  const [name, names] = ability ? [ability, ABILITIES] : [data_source ?? "", SOURCES];
  const of = SUBJECTS.filter((known) => names[known].test(name));
  if (!ability && of.length !== 1)
    return { bad: "ability: missing, and data_source names neither math nor code" };
  if (of.length === 0) return { leftOut: `ability ${ability}: neither math nor code` };
  if (of[0] !== subject) return { leftOut: `${of[0]}: another source with verifier "${of[0]}" reads it` };
  if (style === "model") return { leftOut: "reward_model.style model: judged by a reward model" };
  return images?.length || videos?.length ? { leftOut: "images or videos" } : undefined;
}

/** Sentence appended to a mathematics prompt that requests no readable form. */
const ASK_FOR_BOX = "\n\nPut your final answer within \\boxed{}.";
const ASK_FOR_BLOCK = "\n\nWrite it in Python. Put all of it in one ```python block.";

function mathDraft(row: Row, template: string | undefined): RowOutcome {
  const answers = answersIn(row.reward_model.ground_truth);
  if (isBad(answers)) return answers;
  const found = askedForm(askedText(row, template));
  const form = found ?? askedForm(ASK_FOR_BOX)!;
  return {
    ...draftOf(row, found === undefined ? ASK_FOR_BOX : "", template),
    reference: {
      answer: answers.length === 1 ? answers[0] : answers,
      ...(form.after !== undefined && { after: form.after }),
    },
    answerFrom: `ground_truth, ${form.says}${found === undefined ? ", which this reader adds" : ""}`,
    gold: () => [form.stated(answers[0]!)],
  };
}

const numberOrText = z.union([text, z.number(), z.bigint()]).transform(String);
const answersSchema = z.union([z.array(numberOrText).min(1), numberOrText]);
/** Skywork-OR1 has a list of right answers as JSON text. */
const listSchema = z.array(text).min(1);

function answersIn(truth: unknown): readonly string[] | { readonly bad: string } {
  const read = readFields(answersSchema, truth, "reward_model.ground_truth");
  if (isBad(read) || typeof read !== "string") return read;
  try {
    const list = listSchema.safeParse(JSON.parse(read));
    return list.success ? list.data : [read];
  } catch {
    return [read];
  }
}

function codeDraft(row: Row, raw: RawRow, template: string | undefined): RowOutcome {
  const field = "reward_model.ground_truth";
  const { ground_truth: truth } = row.reward_model;
  const json = typeof truth === "string" ? truth : jsonAt(raw, field.split("."));
  if (json === undefined) return { bad: `${field}: no tests` };
  const tests = readTests(json, { field });
  if (!("inputOutput" in tests)) return tests;
  const { inputOutput: input_output, fnName: fn_name } = tests;
  const asked = askedText(row, template);
  const name =
    fn_name === undefined || asked.includes(fn_name) ? "" : `\n\nThe function is called \`${fn_name}\`.`;
  const block = asked.includes("```") ? "" : ASK_FOR_BLOCK;
  return {
    ...draftOf(row, name + block, template),
    reference: { input_output, ...(fn_name !== undefined && { fn_name }) },
  };
}

const taskOf = ({ prompt }: Row): string => prompt.map(({ content }) => content).join("\n\n");
const askedText = (row: Row, template = "{task}"): string => fill(template, taskOf(row));

/** @param added appended to the question, but not to a template, which contains the whole question */
function draftOf(row: Row, added: string, template: string | undefined) {
  const shared = { content: JSON.stringify([row.prompt, null]), family: row.data_source || "verl", level: 0 };
  if (template !== undefined) return { ...shared, question: askedText(row, template) };
  return { ...shared, question: taskOf(row) + added, messages: withAdded(row.prompt, added) };
}

/** Appends a text to the last user turn, or to the last turn. */
function withAdded(turns: Row["prompt"], added: string): readonly ChatMessage[] {
  const user = turns.findLastIndex(({ role }) => role === "user");
  const at = user < 0 ? turns.length - 1 : user;
  return turns.map((turn, i) => (i === at ? { ...turn, content: turn.content + added } : turn));
}
