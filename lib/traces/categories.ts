/** Purpose of a reasoning step, in the order of tables and figures. */
export const CATEGORIES = [
  "problem setup",
  "forward reasoning",
  "verification",
  "backtracking",
  "subgoal setting",
  "backward chaining",
  "final answer",
  "non-productive",
] as const;
export type Category = (typeof CATEGORIES)[number];

/** The four categories that leave the straight line from the question to the answer. */
export const NON_LINEAR: ReadonlySet<Category> = new Set<Category>([
  "verification",
  "backtracking",
  "subgoal setting",
  "backward chaining",
]);

/**
 * Meaning of each category, as in prompts and docs/how-to/traces.md. Source: Apriel-Reasoner, appendix on traces,
 * reworded.
 */
export const DEFINITIONS: Readonly<Record<Category, string>> = {
  "problem setup":
    "reads the task and brings it into a form to work on: says what is given and wanted, names variables, converts units or notation; no solving yet",
  "forward reasoning":
    "an ordinary deduction or computation that leads on from what is known; whatever adds something and is none of the others",
  verification:
    "tests a result that is there: puts it back, computes it another way, tries examples, holds it against the conditions",
  backtracking:
    "notices a mistake or a dead end, gives that line up and turns to another way or repairs the step",
  "subgoal setting":
    "divides the task into smaller targets, cases or stages and says which, before working on them",
  "backward chaining":
    "begins at what is wanted and asks what must hold for it, going from the goal towards what is given",
  "final answer": "gives the answer that is handed in, with as much explanation as goes with it",
  "non-productive":
    "adds nothing: says again what the trace has established, derives it once more without testing it, repeats the answer before handing it in, or talks about the work without doing any",
};

/** A piece of a trace. */
export interface Step {
  /** The text, trimmed. */
  readonly text: string;
  /** Characters of the trace that belong to it, [from, to); the steps of a trace cover it. */
  readonly from: number;
  readonly to: number;
  /** "answer": what follows the thought. */
  readonly place: "thought" | "answer";
}
