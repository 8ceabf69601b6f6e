import type { Marker } from "../answer-line.ts";

/** The form in which a prompt requests the answer. */
export interface AskedForm {
  /** Description for reports: "asked for after Answer:". */
  readonly says: string;
  /** Marker after which the prompt requests the answer, if not in a box. */
  readonly after?: Marker;
  /** The shortest right completion. */
  stated(answer: string): string;
}

const BOXED = /\\boxed/; // no verifier reads an answer that is only in an \fbox
/** "of the form Answer: $Answer", 'after "Answer:"'; an "Answer:" in a problem is no request. */
const ASKS_LINE = /\b(?:form|format|after|with|line|as)\W{1,8}answer\s*:/i;
const ANSWER = /answer\s*:/i;
const ASKS_HASHES = /\b(?:after|behind|with|following)\W{1,4}####/i;
const ASKS_TAG = /<answer>/i;

/** The form that a prompt requests; undefined if it names none that the verifier reads. */
export function askedForm(prompt: string): AskedForm | undefined {
  // the short pattern is tried first: it matches the end of the long one and takes a tenth of the time
  if (ANSWER.test(prompt) && ASKS_LINE.test(prompt))
    return behind("Answer:", (answer) => `Answer: ${answer}`);
  if (ASKS_TAG.test(prompt)) return behind("<answer>", (answer) => `<answer>${answer}</answer>`);
  if (BOXED.test(prompt)) return { says: "asked for in \\boxed", stated: (answer) => `\\boxed{${answer}}` };
  return prompt.includes("####") && ASKS_HASHES.test(prompt)
    ? behind("####", (answer) => `#### ${answer}`)
    : undefined;
}

const behind = (after: Marker, stated: AskedForm["stated"]): AskedForm => ({
  says: `asked for after ${after}`,
  after,
  stated,
});
