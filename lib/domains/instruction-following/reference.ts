import { isBlank } from "../../python/text.ts";
import type { Rules } from "./judging.ts";

/**
 * Constraints as the published checkers judge them: on PipelineRL's reading of a completion in mode train, and on all of
 * it in the others, as IFEval does.
 */
export const REFERENCE: Rules = {
  responseOf: (completion, mode) => (mode === "train" ? marked(completion) : completion),
  isEmpty: (response, mode) => mode !== "constraint" && isBlank(response),
  bind: (kind, args) => kind.bindAsReference(args),
};

const BEGIN = "[begin final response]";
const END = "[end final response]";

/** The first marked response, or the whole completion. */
function marked(completion: string): string {
  const lower = completion.toLowerCase();
  const begin = lower.indexOf(BEGIN);
  if (begin < 0 || lower.length !== completion.length) return completion;
  const end = lower.indexOf(END, begin + BEGIN.length);
  return end < 0 ? completion : completion.slice(begin + BEGIN.length, end);
}
