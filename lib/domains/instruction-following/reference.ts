import { isBlank } from "../../python/text.ts";
import type { Rules } from "./judging.ts";

/**
 * Judges constraints as the published checkers do: in mode train on the part of a completion that PipelineRL
 * reads, in the other modes on all of it, as IFEval does.
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
