import type { CounterRandom } from "../../../random.ts";

export const OPENING = "([{<";
export const CLOSING = ")]}>";

/** The bracket that closes an opening one: the character at the same index in CLOSING. */
export const closerOf = (open: string): string => CLOSING[OPENING.indexOf(open)]!;

/** The unclosed openings after a text of brackets; undefined from the first closing on that does not match. */
export function openAfter(text: string): string | undefined {
  let open = "";
  for (const bracket of text) {
    if (OPENING.includes(bracket)) open += bracket;
    else if (open !== "" && closerOf(open.at(-1)!) === bracket) open = open.slice(0, -1);
    else return undefined;
  }
  return open;
}

/**
 * A text of `length` brackets of the first `kinds` kinds with `unclosed` brackets left open. The caller must pass
 * values that fit.
 */
export function bracketWalk(random: CounterRandom, length: number, kinds: number, unclosed: number): string {
  let text = "";
  let open = "";
  while (text.length < length) {
    const left = length - text.length;
    const mustClose = open.length - unclosed >= left;
    const close = open !== "" && (mustClose || (open.length > unclosed - left + 1 && random.next() < 0.45));
    const next = close ? closerOf(open.at(-1)!) : random.choice(OPENING.slice(0, kinds));
    open = close ? open.slice(0, -1) : open + next;
    text += next;
  }
  return text;
}
