/** Finds marked answers in a response. Everything here takes time linear in the text. */

const BOX = "\\boxed{";

/**
 * Trimmed content of the last `\boxed{...}` with balanced braces. Undefined if there is no box or the last one is
 * never closed.
 */
export function lastBox(text: string): string | undefined {
  const start = text.lastIndexOf(BOX);
  if (start < 0) return undefined;
  const close = closingBrace(text, start, text.length);
  return close === undefined ? undefined : text.slice(start + BOX.length, close).trim();
}

/** Content of the last box up to its first `}`, as several reference games read it: `\boxed{\text{a}}` gives `\text{a`. */
export function lastFlatBox(text: string): string | undefined {
  const start = text.lastIndexOf(BOX);
  const end = start < 0 ? -1 : text.indexOf("}", start);
  return end < 0 ? undefined : text.slice(start + BOX.length, end).trim();
}

/**
 * Every non-overlapping `open ... close` from left to right, each as short as its `open` allows; without the marks.
 * Equivalent to Python's `re.findall(open + "(.*?)" + close, text, re.DOTALL)` for literal marks.
 */
export function spans(text: string, open: string, close: string): string[] {
  const found: string[] = [];
  for (let from = 0; ; ) {
    const start = text.indexOf(open, from);
    const end = start < 0 ? -1 : text.indexOf(close, start + open.length);
    if (end < 0) return found;
    found.push(text.slice(start + open.length, end));
    from = end + close.length;
  }
}

/** Contents of the ```` ```python ```` blocks, trimmed, in order. */
export const pythonBlocks = (text: string): string[] => spans(text, "```python", "```").map((s) => s.trim());

/**
 * Contents of the ```` ```python ```` blocks whose fences are on lines of their own, in order: equivalent to Python's
 * `re.findall("```python\\s*\\n(.*?)\\n```", text, re.DOTALL)` without blank blocks.
 */
export function pythonBlockLines(text: string): string[] {
  const found: string[] = [];
  const open = /```python\s*\n/g;
  while (open.exec(text) !== null) {
    const end = text.indexOf("\n```", open.lastIndex);
    if (end < 0) break;
    found.push(text.slice(open.lastIndex, end));
    open.lastIndex = end + "\n```".length;
  }
  return found;
}

/** Text between two boxes that contains only "or" and math delimiters. */
const ALTERNATIVE = /^[\s$*)\],.\\]{0,12}(?:or|alternatively)\b[\s$*([,\\]{0,12}$/i;

/** The last box; undefined if an "or" joins it to a box with different content, so that neither is the answer. */
export function onlyBox(text: string): string | undefined {
  const box = lastBox(text);
  const start = text.lastIndexOf(BOX);
  const before = start < 0 ? -1 : text.lastIndexOf(BOX, start - 1);
  if (box === undefined || before < 0 || start === 0) return box;
  const close = closingBrace(text, before, start);
  if (close === undefined || !ALTERNATIVE.test(text.slice(close + 1, start))) return box;
  return text.slice(before + BOX.length, close).trim() === box ? box : undefined;
}

function closingBrace(text: string, box: number, end: number): number | undefined {
  let depth = 1;
  for (let i = box + BOX.length; i < end; i++) {
    if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i;
  }
  return undefined;
}

/** The only box in strict mode: with balanced braces, and without `\text{...}` or another font around its whole content. */
export function plainBox(text: string): string | undefined {
  const box = onlyBox(text);
  const font = box === undefined ? null : /^\\(?:text|textbf|mathrm|mathbf)\{([^{}]*)\}$/.exec(box);
  return font ? font[1]!.trim() : box;
}

/** Splits "a, b，c" into its parts and removes all spaces. */
export const commaList = (text: string): string[] =>
  text
    .replaceAll("，", ",")
    .replaceAll(" ", "")
    .split(",")
    .map((part) => part.trim());
