import { ANSWER_COLUMNS } from "./columns.ts";
import type { DatasetKind } from "./datasets.ts";

/**
 * Columns that identify each kind of rows. Rarer kinds come first: of two equally similar kinds the first is
 * named.
 */
const FIELDS: ReadonlyMap<DatasetKind, readonly string[]> = new Map<DatasetKind, readonly string[]>([
  ["verl", ["reward_model", "ability", "data_source", "extra_info"]],
  ["xlam", ["query", "tools", "answers"]],
  ["code-assertions", ["test_cases", "test", "test_info"]],
  ["code-contests-plus", ["checker", "test_cases", "generator_cmd", "correct_submissions"]],
  ["code-tests", ["tests", "verification_info", "test_cases", "official_tests", "starter_code"]],
  ["taco", ["input_output", "difficulty", "starter_code"]],
  ["live-code-bench", ["question_content", "contest_date", "public_test_cases", "private_test_cases"]],
  ["human-eval", ["task_id", "test", "entry_point", "canonical_solution"]],
  ["mbpp", ["task_id", "code", "test_list", "test_setup_code"]],
  ["i3-logic", ["info", "task", "game_data"]],
  ["ifeval", ["instruction_id_list", "kwargs"]],
  ["bfcl", ["function", "ground_truth", "category"]],
  ["gpqa", ["Question", "Correct Answer", "Incorrect Answer 1"]],
  ["mmlu-pro", ["options", "answer_index", "category"]],
  ["if-rlvr", ["messages", "ground_truth"]],
  ["countdown", ["target", "nums"]],
  ["jsonl", ["question", "problem", "prompt", "messages", "reference", "final_answer", "answer", "solution"]],
]);

/** Rows that no verifier can judge, whatever their kind. */
const UNJUDGED: readonly (readonly [fields: readonly string[], advice: string])[] = [
  [["chosen", "rejected"], "Rows of chosen and rejected are preferences: they hold no answer to judge by."],
  [
    ["conversations"],
    "Rows of conversations are recorded answers, for supervised training; OpenThoughts has question and answer in its configuration metadata.",
  ],
  [
    ["instruction", "output"],
    "Rows of instruction and output are for supervised training: convert those whose output can be judged to question and answer.",
  ],
];

const MOST_FIELDS = 12;

/**
 * Advice for a row of no kind, one or two sentences that end in a space: the most similar kind and why the row is not
 * of it, or why no verifier can judge it. Empty if the value is not a row.
 * @param faultOf returns why a row is not of a kind
 */
export function kindHint(row: unknown, faultOf: (kind: DatasetKind) => string | undefined): string {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return "";
  const present = Object.entries(row).flatMap(([field, value]) => (value === null ? [] : [field]));
  const has = (field: string) => present.includes(field);
  const unjudged = UNJUDGED.find(([fields]) => fields.every(has));
  if (unjudged !== undefined) return `${unjudged[1]} `;
  const counts = [...FIELDS].map(([kind, fields]) => ({ kind, shared: fields.filter(has).length }));
  const [closest] = counts.sort((a, b) => b.shared - a.shared);
  const fault = closest!.shared === 0 ? undefined : faultOf(closest!.kind);
  const more = present.length > MOST_FIELDS ? ", ..." : "";
  const fields = `The first row has ${present.slice(0, MOST_FIELDS).join(", ") || "no field"}${more}. `;
  return fault === undefined
    ? fields
    : `${fields}Its rows are closest to ${closest!.kind}, but: ${inWords(fault)} (docs/reference/data.md has the shape). `;
}

/** Shortens a fault: "answers: invalid input: expected string, received undefined" becomes "answers: missing". */
const inWords = (fault: string): string =>
  fault.replace(/invalid input(?:: expected \w+)?, received undefined/, "missing");

/**
 * An example of a source that reads rows of unknown columns through a map: a sentence that ends in a space.
 * The row's first text is the question; the answer is an answer column or another text. Empty if the row has
 * no two texts.
 */
export function mapExample(path: string, row: unknown): string {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return "";
  const isText = ([, value]: [string, unknown]) => ["string", "number", "bigint"].includes(typeof value);
  const [asked, ...others] = Object.entries(row)
    .filter(isText)
    .map(([field]) => field);
  const [other] = others;
  if (asked === undefined || other === undefined) return "";
  const answer = others.find((field) => ANSWER_COLUMNS.has(field)) ?? other;
  const map = `{ question: ${member(asked)}, answer: ${member(answer)} }`;
  return `Rows with other columns are read through map: ${mapped(path, map)}. `;
}

/** Columns that hold turns: the names of a turn's fields for speaker and text, and the speaker who gives the answer. */
const TURNS = [
  ["messages", "role", "assistant", "content"],
  ["conversations", "from", "gpt", "value"],
] as const;
/** Columns that hold an answer written for supervised training. */
const RECORDED = ["completion", "response", "output", "target"];

/**
 * An example of a source that takes the recorded answer of a row for supervised training as the reference: a sentence
 * that ends in a space. Empty if the row has none.
 */
export function recordedExample(path: string, row: unknown): string {
  if (typeof row !== "object" || row === null || Array.isArray(row)) return "";
  for (const [turns, speaker, assistant, words] of TURNS) {
    const all = (row as Record<string, unknown>)[turns];
    const last: unknown = Array.isArray(all) ? all.at(-1) : undefined;
    if ((last as Record<string, unknown> | null | undefined)?.[speaker] === assistant)
      return recordedText(path, `{ ${turns}: row.${turns}, answer: row.${turns}.at(-1).${words} }`);
  }
  const column = RECORDED.find((name) => typeof (row as Record<string, unknown>)[name] === "string");
  return column === undefined ? "" : recordedText(path, `{ ...row, answer: row.${column} }`);
}

const recordedText = (path: string, map: string): string =>
  `If the recorded answers can be judged, a map makes them references: ${mapped(path, map)}. `;

const mapped = (path: string, map: string): string =>
  `source: { kind: "jsonl", path: ${JSON.stringify(path)}, map: (row) => (${map}) }`;

const member = (field: string): string =>
  /^[A-Za-z_]\w*$/.test(field) ? `row.${field}` : `row[${JSON.stringify(field)}]`;
