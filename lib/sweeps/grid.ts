import { HoneError } from "../errors.ts";

/** One value of an axis: its name in tables, and its assignments (`a.b=value`). */
export interface Choice {
  readonly label: string;
  readonly settings: readonly string[];
}

/** A varied setting and its values: a cell of the grid takes one of them. */
export interface Axis {
  readonly name: string;
  readonly choices: readonly Choice[];
}

const OPENING = "[{";
const CLOSING = "]}";

/**
 * Axes of one `--grid`: `path=value|value|...`, several joined by commas. A value is JSON where it parses as such and
 * text otherwise; commas and bars inside brackets, braces or quotes belong to the value. Throws HONE_ERR_USAGE.
 */
export function parseGrid(text: string): Axis[] {
  return pieces(text, ",").map((part) => parseAxis(part.trim(), text));
}

function parseAxis(part: string, whole: string): Axis {
  const equals = part.indexOf("=");
  const name = part.slice(0, Math.max(equals, 0)).trim();
  if (name === "") throw malformed(whole, `"${part}" is not an axis`);
  const values = pieces(part.slice(equals + 1), "|").map((value) => value.trim());
  if (values.includes("")) throw malformed(whole, `${name} has an empty value`);
  const twice = values.find((value, i) => values.indexOf(value) !== i);
  if (twice !== undefined) throw malformed(whole, `${name} has ${twice} twice`);
  return { name, choices: values.map((value) => ({ label: value, settings: [`${name}=${value}`] })) };
}

/** Splits at a character that stands outside brackets, braces and quotes. */
function pieces(text: string, separator: string): string[] {
  const found: string[] = [];
  let depth = 0;
  let quoted = false;
  let from = 0;
  for (let i = 0; i < text.length; i++) {
    const char = text[i]!;
    if (quoted && char === "\\") i += 1;
    else if (char === '"') quoted = !quoted;
    else if (!quoted && OPENING.includes(char)) depth += 1;
    else if (!quoted && CLOSING.includes(char)) depth -= 1;
    else if (!quoted && depth === 0 && char === separator) {
      found.push(text.slice(from, i));
      from = i + 1;
    }
    if (depth < 0) throw malformed(text, `${char} closes nothing`);
  }
  if (depth > 0 || quoted) throw malformed(text, "a bracket or a quote is not closed");
  return [...found, text.slice(from)];
}

function malformed(grid: string, what: string): HoneError {
  return new HoneError("HONE_ERR_USAGE", `--grid ${grid}: ${what}`, {
    hint: 'Write path=value|value, e.g. --grid "optimizer.lr=1e-4|2e-4,lengthPenalty.kind=lp|dap".',
  });
}
