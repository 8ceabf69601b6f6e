import { trim } from "../instruction-following/text/python.ts";
import type { Compat } from "../verify-case.ts";

/** The answer ends at the first of each; the last one is a rule in markdown. */
const ENDS = ["[END FINAL RESPONSE]", "<|end|>", "</s>", "<|im_end|>", "<|endoftext|>", "\n---\n"];
const END_OF_THINKING = "</think>";

/**
 * The program in a completion: the last fenced block of Python (or of no language), preferring those that are no
 * interpreter session. Undefined without one, or when it is empty. Strict reads what follows the last `</think>` and
 * pairs fences, so that the end of a block in another language opens nothing; the reference does neither.
 * Source: PipelineRL, domains/coding.
 */
export function extractCode(completion: string, compat: Compat): string | undefined {
  const thought = compat === "strict" ? completion.lastIndexOf(END_OF_THINKING) : -1;
  let text = thought < 0 ? completion : completion.slice(thought + END_OF_THINKING.length);
  for (const end of ENDS) {
    const at = text.indexOf(end);
    if (at >= 0) text = text.slice(0, at);
  }
  const blocks = (compat === "strict" ? pairedBlocks(text) : looseBlocks(text)).map(trim);
  const code = blocks.findLast((block) => !block.includes(">>>")) ?? blocks.at(-1);
  return code === "" ? undefined : code;
}

/** Any fence followed by a line break opens a block, its neighbour closes it: what is between two blocks may count. */
function looseBlocks(text: string): string[] {
  return Array.from(text.matchAll(/```(?:python|py)?\n([\s\S]*?)```/gi), ([, block]) => block!);
}

function pairedBlocks(text: string): string[] {
  const blocks = text.matchAll(/```([^\n`]*)\n([\s\S]*?)```/g);
  return Array.from(blocks)
    .filter(([, language]) => /^(?:python3?|py)?\s*$/i.test(language!))
    .map(([, , block]) => block!);
}
