/** Methods of Python's str that JavaScript's strings lack or do differently. */
import { isSpace } from "../../python/text.ts";
import { expectCharacters } from "./limits.ts";
import { length, TemplateFault, typeName, type Value } from "./values.ts";

/** Throws TemplateFault for anything but a string, as str.join does. */
export function mustBeText(item: Value, index = 0): string {
  if (typeof item === "string") return item;
  throw new TemplateFault(`sequence item ${index}: expected str instance, ${typeName(item)} found`);
}

/** Joins texts. Throws TemplateFault where they are longer together than any prompt. */
export function joined(parts: readonly string[], separator: string): string {
  const total = parts.reduce((sum, part) => sum + part.length + separator.length, 0);
  expectCharacters(total);
  return parts.join(separator);
}

const MOST_WIDTH = 1 << 20;

/** str.strip, lstrip and rstrip; `chars` is a set of characters, white space if undefined. */
export function strip(text: string, chars: string | undefined, left: boolean, right: boolean): string {
  const all = [...text];
  const set = new Set(chars);
  const goes = chars === undefined ? isSpace : (c: string) => set.has(c);
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

/** str.title */
export function title(text: string): string {
  return text.toLowerCase().replace(/\p{L}+/gu, (word) => {
    const [first = "", ...rest] = word;
    return first.toUpperCase() + rest.join("");
  });
}

/** str.split: at a separator, or at runs of white space if undefined; at most `most` cuts, any number if negative. */
export function split(text: string, separator: string | undefined, most: number): string[] {
  if (separator === undefined) return words(text, most);
  const parts = cutAt(text, separator);
  if (most < 0 || parts.length <= most + 1) return parts;
  return [...parts.slice(0, most), parts.slice(most).join(separator)];
}

function cutAt(text: string, separator: string): string[] {
  if (separator === "") throw new TemplateFault("empty separator");
  return text.split(separator);
}

function words(text: string, most: number): string[] {
  const parts: string[] = [];
  let rest = strip(text, undefined, true, false);
  while (rest !== "") {
    const all = [...rest];
    const end = most >= 0 && parts.length >= most ? -1 : all.findIndex(isSpace);
    if (end < 0)
      return [...parts, most >= 0 && parts.length >= most ? strip(rest, undefined, false, true) : rest];
    parts.push(all.slice(0, end).join(""));
    rest = strip(all.slice(end).join(""), undefined, true, false);
  }
  return parts;
}

/** str.rsplit: the cuts are taken from the right. */
export function splitFromRight(text: string, separator: string | undefined, most: number): string[] {
  if (separator === undefined) {
    if (most < 0) return words(text, most);
    const turned = words([...text].reverse().join(""), most);
    return turned.map((part) => [...part].reverse().join("")).reverse();
  }
  const parts = cutAt(text, separator);
  if (most < 0 || parts.length <= most + 1) return parts;
  const head = parts.slice(0, parts.length - most);
  return [head.join(separator), ...parts.slice(parts.length - most)];
}

/** str.replace: the first `most` places, all if negative. */
export function replace(text: string, from: string, to: string, most: number): string {
  const parts = from === "" ? ["", ...text, ""] : text.split(from);
  const places = most < 0 ? parts.length - 1 : Math.min(most, parts.length - 1);
  expectCharacters(text.length + places * (to.length - from.length));
  if (most < 0 || parts.length <= most + 1) return parts.join(to);
  return [parts.slice(0, most + 1).join(to), ...parts.slice(most + 1)].join(from);
}

/** str.ljust, rjust and center. */
export function align(text: string, width: number, fill: string, side: "left" | "right" | "both"): string {
  const missing = Math.max(0, Math.min(width, MOST_WIDTH) - length(text));
  // An odd remainder goes to the right, unless the width is odd as well.
  const before =
    side === "left" ? 0 : side === "right" ? missing : Math.floor(missing / 2) + (missing & width & 1);
  return fill.repeat(before) + text + fill.repeat(missing - before);
}

/** str.zfill */
export function zeroFilled(text: string, width: number): string {
  const sign = /^[-+]/.exec(text)?.[0] ?? "";
  return sign + text.slice(sign.length).padStart(Math.min(width, MOST_WIDTH) - sign.length, "0");
}

/** str.find in code points; -1 if absent. */
export function find(text: string, part: string): number {
  const at = text.indexOf(part);
  return at < 0 ? -1 : length(text.slice(0, at));
}

/** str.rfind in code points; -1 if absent. */
export function findLast(text: string, part: string): number {
  const at = text.lastIndexOf(part);
  return at < 0 ? -1 : length(text.slice(0, at));
}

/** str.count */
export function count(text: string, part: string): number {
  return part === "" ? length(text) + 1 : text.split(part).length - 1;
}
