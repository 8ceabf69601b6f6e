import { str } from "../../python/value.ts";
import type { Calls } from "../call.ts";

/** Longer responses are not read. */
const MAX_CHARS = 100_000;
const CLOSING: ReadonlyMap<string, string> = new Map([
  ["(", ")"],
  ["[", "]"],
  ["{", "}"],
]);
/** The types between angle brackets of `new HashMap<String, List<Integer>>()`. */
const GENERICS = /<[\w\s,.?[\]<>]*>/y;
const HEAD = /^\s*(?:new\s+)?([\w$]+(?:\s*\.\s*[\w$]+)*)\s*\(/;

/**
 * The single call of a response in Java or JavaScript syntax with named arguments, `[f(a=1, b="x", c=new int[]{1})]`:
 * every value is its source text, strings and characters without their quotes. Strips backticks and blanks around it
 * and adds missing outer brackets. Inner brackets and quotes must be balanced.
 * Source: BFCL v4, decoding of prompted models for Java and JavaScript; a scanner in place of tree-sitter.
 */
export function readSourceCalls(text: string): Calls {
  const trimmed = text.replace(/^[`\n ]+/, "").slice(0, MAX_CHARS + 1);
  const inside = withoutBrackets(withoutTail(trimmed));
  const head = trimmed.length > MAX_CHARS ? null : HEAD.exec(inside);
  const parts = head && splitArguments(inside, head[0].length);
  if (!head || !parts) return { kind: "malformed", reason: "decoder_failed" };
  const named = parts.map((part) => /^\s*([\w$]+)\s*=(?!=)([\s\S]*)$/.exec(part));
  const values = named.flatMap((found) =>
    found ? [[found[1]!, sourceValue(found[2]!.trim())] as const] : [],
  );
  const call = {
    name: head[1]!.replace(/\s+/g, ""),
    arguments: new Map(values),
    positional: named.length - values.length,
  };
  return { kind: "calls", calls: [call], ended: false };
}

/** Strips trailing backticks and blanks; a loop, since a pattern would restart at each blank. */
function withoutTail(text: string): string {
  let end = text.length;
  while (end > 0 && "`\n ".includes(text[end - 1]!)) end -= 1;
  return text.slice(0, end);
}

function withoutBrackets(text: string): string {
  const opened = text.startsWith("[") ? text.slice(1) : text;
  return opened.endsWith("]") ? opened.slice(0, -1) : opened;
}

/** The parts between commas up to the parenthesis that closes, which must end the text. */
function splitArguments(text: string, start: number): string[] | undefined {
  const open: string[] = [")"];
  const parts: string[] = [];
  let from = start;
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (character === open.at(-1)) {
      open.pop();
      if (open.length > 0) continue;
      if (
        text
          .slice(at + 1)
          .trim()
          .replace(/^;/, "") !== ""
      )
        return undefined;
      const last = text.slice(from, at);
      return last.trim() === "" ? (parts.length === 0 ? [] : undefined) : [...parts, last];
    }
    if ("'\"`".includes(character)) {
      at = endOfQuote(text, at);
      if (at < 0) return undefined;
    } else if (character === "<") at = endOfGenerics(text, at);
    else if (CLOSING.has(character)) open.push(CLOSING.get(character)!);
    else if (")]}".includes(character)) return undefined;
    else if (character === "," && open.length === 1) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  return undefined;
}

/** Index of the quote that closes the one at `start`, or -1. */
function endOfQuote(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === text[start]) return at;
  }
  return -1;
}

/** Index of the last `>` of type arguments, or of the `<` itself if it opens none. */
function endOfGenerics(text: string, start: number): number {
  if (!/\w/.test(text[start - 1] ?? "")) return start;
  GENERICS.lastIndex = start;
  const found = GENERICS.exec(text.slice(0, start + 200));
  return found === null ? start : start + found[0].length - 1;
}

function sourceValue(source: string) {
  const quote = source[0];
  const isText =
    (quote === '"' || quote === "'") && source.length > 1 && endOfQuote(source, 0) === source.length - 1;
  return str(isText ? source.slice(1, -1) : source);
}
