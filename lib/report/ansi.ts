import stringWidth from "string-width";

/** Text for terminals: styles that can be switched off, widths without escapes, bars and sparklines. */
export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  /** One of the seven colours of the frame, by index; a domain has one index in all parts of the frame. */
  readonly hue: (index: number, text: string) => string;
}

const HUES = [36, 33, 32, 35, 34, 31, 90]; // cyan yellow green magenta blue red grey: legible on black and on white

export const COLORED: Style = {
  bold: (text) => `\u001b[1m${text}\u001b[22m`,
  dim: (text) => `\u001b[2m${text}\u001b[22m`,
  hue: (index, text) => `\u001b[${HUES[index % HUES.length]}m${text}\u001b[39m`,
};

export const PLAIN: Style = { bold: (text) => text, dim: (text) => text, hue: (_, text) => text };

// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what an escape sequence starts with
const ESCAPES = /\u001b\[[0-9;?]*[A-Za-z]/g;

/**
 * Number of columns that a text takes: two for a wide character (East Asian scripts, emoji), none for a
 * combining mark.
 */
export function width(text: string): number {
  return stringWidth(text);
}

const graphemes = new Intl.Segmenter();

/** The longest beginning of a text without escapes that takes at most so many columns. */
function beginning(text: string, columns: number): string {
  let kept = "";
  let used = 0;
  for (const { segment } of graphemes.segment(text)) {
    used += width(segment);
    if (used > columns) break;
    kept += segment;
  }
  return kept;
}

/**
 * Whole cells in `columns`: a terminal that is being resized, or reports nothing, may give a negative number or NaN.
 */
export function wholeCells(columns: number): number {
  return Number.isFinite(columns) ? Math.max(0, Math.floor(columns)) : 0;
}

/** Cuts to at most `room` columns, keeping escape sequences whole and closing every style that may be open. */
export function clip(text: string, room: number): string {
  const columns = wholeCells(room);
  if (width(text) <= columns) return text;
  let out = "";
  let used = 0;
  let at = 0;
  for (const match of text.matchAll(ESCAPES)) {
    const piece = beginning(text.slice(at, match.index), columns - used);
    out += piece + match[0];
    used += width(piece);
    at = match.index + match[0].length;
  }
  return out + beginning(text.slice(at), columns - used);
}

export function padEnd(text: string, columns: number): string {
  return text + " ".repeat(wholeCells(columns - width(text)));
}

export function padStart(text: string, columns: number): string {
  return " ".repeat(wholeCells(columns - width(text))) + text;
}

const LEVELS = [..."▁▂▃▄▅▆▇█"];

/**
 * `columns` characters, oldest first, each the mean of its share of the values, between `low` and `high`.
 * Fewer values than columns leave the right end blank; a missing value (NaN) is a gap.
 */
export function sparkline(values: readonly number[], columns: number, low: number, high: number): string {
  const cells = Math.min(wholeCells(columns), values.length);
  let line = "";
  for (let c = 0; c < cells; ++c) {
    const from = Math.floor((c * values.length) / cells);
    const to = Math.floor(((c + 1) * values.length) / cells);
    const slice = values.slice(from, to).filter(Number.isFinite);
    if (slice.length === 0) {
      line += " ";
      continue;
    }
    const mean = slice.reduce((a, b) => a + b, 0) / slice.length;
    const part = high > low ? (mean - low) / (high - low) : 0.5;
    line += LEVELS[Math.min(LEVELS.length - 1, Math.max(0, Math.floor(part * LEVELS.length)))]!;
  }
  return line.padEnd(wholeCells(columns));
}

/** A line of `columns`, the done part bold. */
export function progressBar(fraction: number, columns: number, style: Style): string {
  const cells = wholeCells(columns);
  const done = wholeCells(Math.round(Math.min(1, Math.max(0, fraction)) * cells));
  return style.hue(2, "━".repeat(done)) + style.dim("─".repeat(cells - done));
}

/**
 * One bar divided in proportion, largest remainders first, so that the whole is exactly `room` columns; NaN, infinite
 * and negative amounts take no room.
 */
export function stackedBar(amounts: readonly number[], room: number, style: Style): string {
  const columns = wholeCells(room);
  const parts = amounts.map((part) => (Number.isFinite(part) ? Math.max(0, part) : 0));
  const total = parts.reduce((a, b) => a + b, 0);
  if (total === 0) return " ".repeat(columns);
  const exact = parts.map((part) => (part / total) * columns);
  const cells = exact.map(Math.floor);
  const order = exact.map((_, i) => i).sort((a, b) => exact[b]! - cells[b]! - (exact[a]! - cells[a]!));
  const missing = columns - cells.reduce((a, b) => a + b, 0);
  for (const i of order.slice(0, missing)) cells[i]! += 1;
  return cells.map((n, i) => style.hue(i, "█".repeat(n))).join("");
}

/** Arranges pieces in lines of at most `columns`; a wider piece has a line of its own. */
export function flow(pieces: readonly string[], columns: number, gap = "   "): string[] {
  const lines: string[] = [];
  for (const piece of pieces) {
    const joined = lines.length === 0 ? piece : `${lines.at(-1)}${gap}${piece}`;
    if (lines.length > 0 && width(joined) <= columns) lines[lines.length - 1] = joined;
    else lines.push(piece);
  }
  return lines;
}

/** Formats seconds: "0:07", "3:41", "1:02:09"; "–" for NaN or infinity. */
export function duration(seconds: number): string {
  if (!Number.isFinite(seconds)) return "–";
  const s = Math.max(0, Math.round(seconds));
  const two = (n: number) => String(n).padStart(2, "0");
  const hours = Math.floor(s / 3600);
  const minutes = Math.floor(s / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(s % 60)}` : `${minutes}:${two(s % 60)}`;
}

/** Three significant figures with a thousands letter: "26.1k", "512", "0.0031". */
export function short(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e9) return `${Number((value / 1e9).toPrecision(3))}G`;
  if (size >= 1e6) return `${Number((value / 1e6).toPrecision(3))}M`;
  if (size >= 1e3) return `${Number((value / 1e3).toPrecision(3))}k`;
  return String(Number(value.toPrecision(3)));
}

/** Formats a fraction: "8.3 %" with a non-breaking space; "–" for undefined, NaN or infinity. */
export function percent(fraction: number | undefined, digits = 1): string {
  return fraction === undefined || !Number.isFinite(fraction)
    ? "–"
    : `${(100 * fraction).toFixed(digits)}\u00a0%`;
}
