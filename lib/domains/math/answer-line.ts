import { boxContent, lastBox, MAX_TAIL, type Tail } from "./boxed.ts";

/** Where a prompt may ask for the answer, if not in a box: behind these words, or in this tag. */
export const MARKERS = ["Answer:", "####", "<answer>"] as const;
export type Marker = (typeof MARKERS)[number];

/** What follows each marker; bold type and quotes of Markdown around it are passed over. */
const STATED: Readonly<Record<Marker, RegExp>> = {
  "Answer:": /(?:^|<\/think>)[ \t>*_#]*(?:final[ \t]+)?answer[ \t*_]*:[\s*_]*(\S.*)$/gim,
  "####": /####[ \t]*([^\s#].*)$/gm,
  "<answer>": /<answer>([\s\S]*?)<\/answer>/gi,
};

/**
 * The last answer that a response states, as a text that begins with its box: the last `\boxed{}`, or what follows the
 * last marker in the last 1,000 characters, put into a box; whichever begins later. A box behind the marker is the
 * marked answer itself ("Answer: \boxed{7}").
 */
export function lastStated(response: string, marker: Marker | undefined): Tail {
  const boxed = lastBox(response);
  if (marker === undefined) return boxed;
  const line = lastMarked(response, marker);
  if (line === undefined)
    return boxed.status === "no_answer"
      ? { ...boxed, reason: `nothing after ${marker}, and ${boxed.reason}` }
      : boxed;
  if (response.lastIndexOf("\\boxed{") > line.at) return boxed;
  const text = `\\boxed{${line.content}}`;
  return boxContent(text)?.text === line.content
    ? { status: "found", text }
    : { status: "unparsable", reason: `braces after ${marker} do not match` };
}

function lastMarked(response: string, marker: Marker): { at: number; content: string } | undefined {
  const end = response.slice(-MAX_TAIL);
  const found = [...end.matchAll(STATED[marker])].at(-1);
  if (found === undefined) return undefined;
  return { at: response.length - end.length + found.index, content: withoutMarks(found[1]!) };
}

/** Without dollar signs, which "Answer: $Answer" leads models to write one by one, and without bold type. */
const withoutMarks = (content: string): string =>
  content.replace(/(?<!\\)\$/g, "").replace(/^[\s*_`]+|[\s*_`]+$/g, "");
