import { dropUnits } from "./unit-words.ts";

type Rewrite = readonly [pattern: RegExp, replacement: string];

const LEFT =
  /\\m?left(\\\{|\{|\\\||\||\[|\(|\\lgroup|\\lbrace|\\lbrack|\\vert|\\lvert|\\lceil|\\lfloor|\\langle|\\llcorner|\\ulcorner)/g;
const RIGHT =
  /\\m?right(\\\}|\}|\\\||\||\]|\)|\\rgroup|\\rbrace|\\rbrack|\\vert|\\rvert|\\rceil|\\rfloor|\\rangle|\\lrcorner|\\urcorner)/g;
const FALLING_FACTORIAL = /\(([a-zA-Z0-9+\-*/\\ ]+?)\)_\{([a-zA-Z0-9+\-*/\\ ]+?)\}/g;
const REMOVED = /\\mathrm\{th\}|\\!\s*|\\text\s*\{\s*\}|\\\$|\$|(?<!\\)["']|\\displaystyle/g;

/** Rewrites applied in one pass; the first alternative that matches at a position wins. */
const REPLACED: readonly Rewrite[] = [
  [/\\math(?:rm|it|bf)/, "\\text"],
  [/\\text(?:normal|bf|it|rm)/, "\\text"],
  [/\\[dtc]frac/, "\\frac"],
  [/\s\./, " 0."],
  [/\{\./, "{0."],
  [/~=/, "\\approx"],
  [/\s*\{\s*,\s*\}/, ","],
  [/(?<![a-zA-Z]),?\s*(?:and|or)(?![a-zA-Z])/, ","],
  [/,?\s*\\text\{\s*(?:and|or)\s*\}/, ","],
  [/(?<!\\)\\\s/, " "],
  [/infinity/, "\\infty"],
  [/,?\\ldots/, " "],
  [/\s*\bpercentage\b/, "%"],
  [/\s*\bpercent\b/, "%"],
  [/\s*\bpct\b/, "%"],
  [/\\text\{(?:percent|pct|percentage)\}/, "%"],
  [/(?<!\\)inf(?!inity)/, "\\infty"],
  [/ sqrt/, "\\sqrt"],
];
const ANY_REPLACED = new RegExp(REPLACED.map(([pattern]) => `(${pattern.source})`).join("|"), "g");

/** The last entry is a text that every match contains; without it in the input, the search is skipped. */
const OPERATORS: readonly (readonly [...Rewrite, when: string])[] = [
  [/\^\s?\((.*?)\)/g, "^{$1}", "^"],
  [/sqrt\s?\((.*?)\)/g, "\\sqrt{$1}", "sqrt"],
  [/\\frac\s?(\d)\s?(\d+)/g, "\\frac{$1}{$2}", "\\frac"],
  [/\\log_\s?(\d)\s?(\d+)/g, "\\log_{$1}{$2}", "\\log_"],
  [/\\frac\s?\{(.*?)\}\s?(\d)/g, "\\frac{$1}{$2}", "\\frac"],
  [/\\frac\s?(\d)\s?\{(.*?)\}/g, "\\frac{$1}{$2}", "\\frac"],
  [/\\sqrt\s?(\d)/g, "\\sqrt{$1}", "\\sqrt"],
];

/**
 * Converts the text inside a box to the grammar's form: unifies spellings, drops spacing, fonts and units, and adds
 * braces to shorthand fractions and roots. Idempotent on plain numbers. Strict mode has its own reading
 * (presentation.ts) and uses only the braces of shorthand from here.
 * Source: the normaliser of latex2sympy2_extended, with the same order of steps.
 */
export function normalizeLatex(boxed: string): string {
  let text = boxed.replaceAll("\\mathrm{T}", "T").replaceAll("\\mathrm{d}", "d").replaceAll("{\\rm d}", "d");
  text = text
    .replaceAll("\\left[\\begin{matrix}", "\\begin{bmatrix}")
    .replaceAll("\\end{matrix}\\right]", "\\end{bmatrix}");
  text = text.replace(LEFT, "$1").replace(RIGHT, "$1");
  text = text.replace(FALLING_FACTORIAL, "\\frac{($1)!}{(($1)-($2))!}");
  text = text.replace(REMOVED, "").replace(ANY_REPLACED, (_, ...groups: unknown[]) => {
    const which = groups.findIndex((group) => group !== undefined);
    return REPLACED[which]![1];
  });
  text = text.replace(/[\n\t]/g, " ");
  if (!text.includes("matrix")) text = text.replace(/\\\\(?=[a-zA-Z])/g, "\\");
  text = dropUnits(text);
  if (text.startsWith(".")) text = `0${text}`;
  if (text === "0.5") text = "\\frac{1}{2}";
  return bracedOperators(text).trim();
}

/** Adds the braces that the grammar requires to \frac12, \sqrt3, 2^(n+1) and a/b. */
export function bracedOperators(text: string): string {
  let braced = text;
  for (const [pattern, replacement, when] of OPERATORS) {
    if (braced.includes(when)) braced = braced.replace(pattern, replacement);
  }
  braced = braced.replaceAll(" sqrt", "\\sqrt");
  braced = bracedRoots(braced);
  braced = bracedFractions(braced);
  const slash = /^(-?(?:0|[1-9]\d*))\/(-?(?:0|[1-9]\d*))$/.exec(braced);
  return slash && slash[1] !== "-0" && slash[2] !== "-0" ? `\\frac{${slash[1]}}{${slash[2]}}` : braced;
}

function bracedRoots(text: string): string {
  const [head, ...pieces] = text.split("\\sqrt");
  return pieces.reduce((done, piece) => {
    const rest = piece.trimStart();
    const bare = rest !== "" && rest[0] !== "{" && rest[0] !== "[";
    return `${done}\\sqrt${bare ? `{${rest[0]}}${rest.slice(1)}` : rest}`;
  }, head!);
}

function bracedFractions(text: string): string {
  const [head, ...pieces] = text.split("\\frac");
  let done = head!;
  for (const piece of pieces) {
    const rest = piece.trimStart();
    if (rest[0] === "{") done += `\\frac${rest}`;
    else if (rest.length < 2) return text;
    else if (rest[1] === "{") done += `\\frac{${rest[0]}}${rest.slice(1)}`;
    else done += `\\frac{${rest[0]}}{${rest[1]}}${rest.slice(2)}`;
  }
  return done;
}

/** The part after the last "=" of a chain of three or more; undefined for anything else. */
export function lastEquated(text: string): string | undefined {
  if (/[,;]/.test(text)) return undefined;
  const parts = text.split(/(?<![\\<!>])=/);
  return parts.length > 2 ? parts.at(-1) : undefined;
}
