import { CATEGORIES, type Category, DEFINITIONS, type Step } from "./categories.ts";

/**
 * Version of the prompts. Increment it with every change of a prompt, so that answers to older prompts are requested
 * again.
 */
export const PROMPTS_VERSION = 1;

/** Most characters of the question and of the preceding text, as context. */
const MOST_QUESTION = 3000;
const MOST_BEFORE = 6000;

/** Prompt that asks where steps begin. @param sentences of one part of a trace, in order */
export function splitPrompt(question: string | undefined, sentences: readonly string[]): string {
  return `Below is a part of what a language model wrote while it worked on a task, cut into numbered pieces. Group neighbouring pieces into reasoning steps.

A step is one move of the reasoning: one deduction with its computation, one check, one change of plan, one statement of the task. It ends where the writer begins to do something else. A step may be one piece or many. Code and formulas belong to the step that they serve. An interjection ("Hmm.", "Okay.") belongs to the step that it opens.

${taskOf(question)}<pieces>
${numbered(sentences)}
</pieces>

Answer with one JSON object and nothing else: {"starts": [1, ...]}, the numbers of the pieces that begin a step, ascending, the first of them 1.`;
}

export interface LabelRequest {
  readonly question: string | undefined;
  /** Text of the trace up to the steps. */
  readonly before: string;
  readonly steps: readonly Step[];
  /** Order of the categories in the prompt; the passes differ in it. */
  readonly order: readonly Category[];
}

/** Prompt that asks for the category of each step. */
export function labelPrompt({ question, before, steps, order }: LabelRequest): string {
  const categories = order.map((category) => `- "${category}": ${DEFINITIONS[category]}.`).join("\n");
  const earlier =
    before === ""
      ? ""
      : `What was written before these steps (its end), for context only:\n<before>\n${before.slice(-MOST_BEFORE)}\n</before>\n\n`;
  const texts = steps.map(({ text, place }) => (place === "answer" ? `(after the thought) ${text}` : text));
  return `Below are numbered steps of what a language model wrote while it worked on a task. Say of each step which one of these ${CATEGORIES.length} categories it belongs to:

${categories}

Judge a step by what it does at its place in the trace, not by the words that it uses: "wait" alone is no backtracking, and a computation that only repeats an earlier one is non-productive unless it tests it. Where a step does several things, take the one that most of it is for.

${taskOf(question)}${earlier}<steps>
${numbered(texts)}
</steps>

Answer with one JSON object and nothing else, every step once: {"labels": [{"step": 1, "category": "..."}, ...]}.`;
}

/** The order in the first pass, and in the second. */
export const ORDERS: readonly (readonly Category[])[] = [CATEGORIES, [...CATEGORIES].reverse()];

const taskOf = (question: string | undefined): string =>
  question === undefined ? "" : `<task>\n${question.slice(0, MOST_QUESTION)}\n</task>\n\n`;

const numbered = (texts: readonly string[]): string =>
  texts.map((text, i) => `[${i + 1}] ${text}`).join("\n");
