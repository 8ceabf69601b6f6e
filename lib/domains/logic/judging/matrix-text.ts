/** Finds grids written as nested lists in a response. Linear in the text, whatever the text is. */
import { readLiteral } from "../../../python/literal.ts";
import type { PythonValue } from "../../../python/value.ts";

/** A cell as read: an integer, a string, or null for anything else (a float, None, a list). */
export type Cell = number | string | null;

const SQUARE_END = /\]\s*\]/g;
const ROUND_END = /\)\s*\)/g;

/** `[[` or `((`, each also followed by a number; blanks may separate the characters. */
const OPENINGS = {
  square: /\[\s*\[/g,
  squareDigit: /\[\s*\[\s*\d/g,
  roundNumber: /\(\s*\(\s*\d+\s*,/g,
} as const;

/**
 * Every non-overlapping text from an opening to the next `]]` (`))` for round ones), left to right, with its
 * brackets: equivalent to Python's `re.findall(opening + ".*?\]\s*\]", text, re.DOTALL)`.
 */
export function nestedSpans(text: string, opening: keyof typeof OPENINGS): string[] {
  const begin = new RegExp(OPENINGS[opening]);
  const end = new RegExp(opening === "roundNumber" ? ROUND_END : SQUARE_END);
  const found: string[] = [];
  for (let match = begin.exec(text); match !== null; match = begin.exec(text)) {
    end.lastIndex = begin.lastIndex;
    if (end.exec(text) === null) break; // no later opening can be closed either
    found.push(text.slice(match.index, end.lastIndex));
    begin.lastIndex = end.lastIndex;
  }
  return found;
}

/**
 * Every non-overlapping `[[cell, ...], ...]` whose cells all match, left to right, as the texts of the cells.
 * @param cell sticky; must not match a comma, bracket or outer blank
 */
export function cellGrids(text: string, cell: RegExp): string[][][] {
  const found: string[][][] = [];
  for (let at = text.indexOf("["); at >= 0; ) {
    const cursor = new Cursor(text, at);
    const rows = cursor.list(() => cursor.list(() => cursor.take(cell)));
    if (rows !== undefined) found.push(rows);
    at = text.indexOf("[", rows === undefined ? at + 1 : cursor.at);
  }
  return found;
}

class Cursor {
  readonly #text: string;
  at: number;

  constructor(text: string, at: number) {
    this.#text = text;
    this.at = at;
  }

  take(sticky: RegExp): string | undefined {
    sticky.lastIndex = this.at;
    const match = sticky.exec(this.#text);
    if (match === null) return undefined;
    this.at = sticky.lastIndex;
    return match[0];
  }

  /** `[item, ...]` with at least one item; undefined for any other text. */
  list<Item>(item: () => Item | undefined): Item[] | undefined {
    const items: Item[] = [];
    for (let mark = /\[/y; this.take(mark) !== undefined; mark = /,/y) {
      this.take(/\s*/y);
      const next = item();
      if (next === undefined) return undefined;
      items.push(next);
      this.take(/\s*/y);
    }
    return items.length > 0 && this.take(/\]/y) !== undefined ? items : undefined;
  }
}

/**
 * The matrix of a Python literal, or undefined for any other text. Rows may differ in length.
 * @param rows "list" accepts only `[[...]]`, "any" also tuples
 */
export function readMatrix(text: string, rows: "list" | "any"): Cell[][] | undefined {
  const literal = readLiteral(text);
  if ("fault" in literal) return undefined;
  const outer = itemsOf(literal.value, rows)?.map((row) => itemsOf(row, rows)?.map(cellOf));
  return outer?.every((row) => row !== undefined) ? outer : undefined;
}

function itemsOf(value: PythonValue, rows: "list" | "any"): readonly PythonValue[] | undefined {
  return value.type === "list" || (value.type === "tuple" && rows === "any") ? value.items : undefined;
}

/** No grid has a cell beyond 2^53, so the exact value of such an int does not matter. */
function cellOf(value: PythonValue): Cell {
  if (value.type === "str") return value.value;
  return value.type === "int" || value.type === "bool" ? Number(value.value) : null;
}

/** The text without the given characters at both ends, as Python's `str.strip(characters)`. */
export function strip(text: string, characters: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && characters.includes(text[start]!)) start++;
  while (end > start && characters.includes(text[end - 1]!)) end--;
  return text.slice(start, end);
}
