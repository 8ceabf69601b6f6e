/** Finds fenced blocks as some games of the reference do, in time linear in the text. */

const FENCE = "```";

/**
 * Contents of the first ```` ```python ```` block whose fences are on lines of their own; undefined if there is none.
 * Equivalent to Python's `re.search("```python\s*\n(.*?)\n\s*```", text, re.DOTALL)`.
 */
export function firstPythonBlock(text: string): string | undefined {
  const open = /```python\s*\n/g;
  if (open.exec(text) === null) return undefined;
  const start = open.lastIndex;
  for (let end = text.indexOf(FENCE, start); end >= 0; end = text.indexOf(FENCE, end + 1)) {
    const content = text.slice(start, end).trimEnd();
    if (text.slice(start + content.length, end).includes("\n")) return content.trim();
  }
  return undefined;
}

/** Opening and closing fences of a block that contains brackets. */
const BRACKETED = [
  { open: /```python\s*\n/g, close: `\n${FENCE}` },
  { open: /```\s*\n/g, close: `\n${FENCE}` },
  { open: /```/g, close: FENCE },
] as const;

/**
 * For each form of a fence, the strictest first, the last block that contains `[...]`; omits forms without one. A
 * block without brackets does not end at its own closing fence but extends to that of a block with brackets.
 */
export function bracketedBlocks(text: string): string[] {
  return BRACKETED.flatMap(({ open, close }) => {
    const begin = new RegExp(open);
    let last: string[] = [];
    while (begin.exec(text) !== null) {
      const start = begin.lastIndex;
      const left = text.indexOf("[", start);
      const right = left < 0 ? -1 : text.indexOf("]", left);
      const end = right < 0 ? -1 : text.indexOf(close, right);
      if (end < 0) break;
      last = [text.slice(start, end).trim()];
      begin.lastIndex = end + close.length;
    }
    return last;
  });
}
