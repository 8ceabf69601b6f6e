const CLOSING: Readonly<Record<string, string>> = { "(": ")", "{": "}" };
const IN_PARENTHESES = /(?:\\sqrt(?:\s*\[[^\][]*\])?|\^)\s*\(/g;
const OVER = /\\over(?![A-Za-z])/;

/** Replaces the parentheses of \sqrt(x+1), \sqrt[3](2) and 2^(n(n+1)) by braces, which the grammar requires. */
export function bracedArguments(text: string): string {
  let done = text;
  for (const match of [...text.matchAll(IN_PARENTHESES)]) {
    const open = match.index + match[0].length - 1;
    const close = closingPlace(text, open);
    if (close === undefined) continue;
    done = `${done.slice(0, open)}{${done.slice(open + 1, close)}}${done.slice(close + 1)}`;
  }
  return done;
}

/** Rewrites \underbrace{x+1}_{\text{why}} as {x+1}: removes a brace above or below with its label. */
export function withoutLabelledBraces(text: string): string {
  const match = /\\(?:under|over)brace\s*(?=\{)/.exec(text);
  if (match === null) return text;
  const open = match.index + match[0].length;
  const close = closingPlace(text, open);
  if (close === undefined) return text;
  let after = text.slice(close + 1);
  const label = /^\s*[_^]\s*/.exec(after);
  if (label !== null) {
    const end = after[label[0].length] === "{" ? closingPlace(after, label[0].length) : label[0].length;
    after = after.slice((end ?? label[0].length) + 1);
  }
  return withoutLabelledBraces(text.slice(0, match.index) + text.slice(open, close + 1) + after);
}

/** Rewrites {a+b \over c} as {\frac{a+b}{c}}; \over divides everything in its group. */
export function fractionsOfOver(text: string): string {
  const match = OVER.exec(text);
  if (match === null) return text;
  const open = openingPlace(text, match.index);
  const close = open < 0 ? text.length : closingPlace(text, open);
  if (close === undefined) return text;
  const above = text.slice(open + 1, match.index).trim();
  const below = text.slice(match.index + match[0].length, close).trim();
  return fractionsOfOver(`${text.slice(0, open + 1)}\\frac{${above}}{${below}}${text.slice(close)}`);
}

/** Index of the bracket that closes the one at `open`; undefined if there is none. */
export function closingPlace(text: string, open: number): number | undefined {
  const [opens, closes] = [text[open]!, CLOSING[text[open]!]];
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === opens) depth++;
    else if (text[i] === closes && --depth === 0) return i;
  }
  return undefined;
}

/** Index of the opening brace of the innermost group around a position; -1 outside of any group. */
function openingPlace(text: string, at: number): number {
  const open: number[] = [];
  for (let i = 0; i < at; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") open.push(i);
    else if (text[i] === "}") open.pop();
  }
  return open.at(-1) ?? -1;
}
