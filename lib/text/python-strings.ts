/** Methods of Python's str that templates call and the interpreter underneath lacks or does otherwise. */

/** What str.strip takes off. JavaScript's own idea of white space lacks five of these and has U+FEFF. */
const SPACES = new Set(
  "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
);
const LINE_ENDS = new Set("\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029");

/** str.strip and its one-sided forms; `chars` is a set of characters, white space if undefined. */
export function strip(text: string, chars: string | undefined, left: boolean, right: boolean): string {
  const all = [...text];
  const set = chars === undefined ? SPACES : new Set(chars);
  const goes = (c: string) => set.has(c);
  let begin = 0;
  let end = all.length;
  while (left && begin < end && goes(all[begin]!)) begin += 1;
  while (right && end > begin && goes(all[end - 1]!)) end -= 1;
  return all.slice(begin, end).join("");
}

/** str.capitalize */
export function capitalize(text: string): string {
  const [first = "", ...rest] = text;
  return first.toUpperCase() + rest.join("").toLowerCase();
}

/** str.splitlines */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  let begin = 0;
  for (let i = 0; i < text.length; i++) {
    if (!LINE_ENDS.has(text[i]!)) continue;
    lines.push(text.slice(begin, i));
    if (text[i] === "\r" && text[i + 1] === "\n") i += 1;
    begin = i + 1;
  }
  return begin < text.length ? [...lines, text.slice(begin)] : lines;
}

/** str.rsplit with a separator: at most `most` cuts, from the right. */
export function splitFromRight(text: string, separator: string, most: number): string[] {
  const parts = text.split(separator);
  if (most < 0 || parts.length <= most + 1) return parts;
  const head = parts.slice(0, parts.length - most);
  return [head.join(separator), ...parts.slice(parts.length - most)];
}

/** Number of code points, as len() counts. */
export function length(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** str.find in code points; -1 if absent. */
export function find(text: string, part: string): number {
  const at = text.indexOf(part);
  return at < 0 ? -1 : length(text.slice(0, at));
}

/** str.count */
export function count(text: string, part: string): number {
  return part === "" ? length(text) + 1 : text.split(part).length - 1;
}
