import { readJson } from "../../python/json.ts";
import type { Call, Calls } from "../call.ts";
import { jsonCalls } from "../json-calls.ts";

/** Longer blocks are not read. */
const MAX_BLOCK_CHARS = 200_000;
const TAG = /<(\/?)tool_calls>/gi;

/** True if a text has a list of calls in the reference's form. */
export const hasToolCalls = (text: string): boolean => /<tool_calls>/i.test(text);

/**
 * The calls in the last non-blank `<tool_calls>` block, as the reference reads them: JSON, a list of calls or one
 * call, each as {name, arguments}, as {function: {name, arguments}} or as {name: arguments}; `arguments` may be JSON
 * in a string. Ignores unreadable parts: unreadable JSON or list items count as no call, unreadable arguments as
 * none.
 */
export function readToolCalls(text: string): Calls {
  const blocks = blocksOf(text);
  const filled = blocks.filter((block) => block !== "");
  if (blocks.length === 0) return { kind: "none", reason: "no <tool_calls>" };
  const last = filled.at(-1);
  if (last === undefined) return { kind: "none", reason: "empty <tool_calls>" };
  const read = last.length > MAX_BLOCK_CHARS ? undefined : readJson(last);
  if (read === undefined) return { kind: "none", reason: "not JSON in <tool_calls>" };
  const calls: Call[] = [];
  for (const item of read.type === "list" ? read.items : [read]) {
    const found = jsonCalls(item, ["name", "arguments"], { passesOverUnreadable: true });
    if (typeof found === "string") return { kind: "malformed", reason: found };
    calls.push(...found);
  }
  return calls.length === 0
    ? { kind: "none", reason: "no calls in <tool_calls>" }
    : { kind: "calls", calls, ended: true };
}

/** The trimmed text between opening and closing tags; a tag opened twice begins at the first. */
function blocksOf(text: string): string[] {
  const found: string[] = [];
  let start: number | undefined;
  for (const tag of text.matchAll(TAG)) {
    if (tag[1] === "") start ??= tag.index + tag[0].length;
    else if (start !== undefined) {
      found.push(text.slice(start, tag.index).trim());
      start = undefined;
    }
  }
  return found;
}
