/** A rewriting, and a fast pattern; the rewriting is needed only if the pattern matches. */
type Rewrite = readonly [when: RegExp, rewrite: (text: string) => string];

const THIN = String.raw`(?:\\[,;: ]|\\thinspace ?|\{,\}|\{\\,\}|,\\! ?|~|'| )`;
/** 1\,000\,000 and 1{,}000: groups of three digits, joined by one separator that lists do not use. */
const GROUPED = new RegExp(
  String.raw`(?<![\d.^_A-Za-z])(?<!(?<!\\),)(\d{1,3})(${THIN})(\d{3}(?:\2\d{3})*)(?![\d,]|\2\d)`,
  "g",
);
/** 1,234,567 with plain commas is one number only if it is the only one and outside of brackets. */
const LONE_GROUPED = /^((?:\\text\{[^{}]*\}|[^,;([{])*?)(?<![\d.])(\d{1,3}(?:,\d{3})+)(?!\d)([^,;]*)$/;
const REPEATING =
  /(?<![\d.])(\d*)\.(\d*)(?:\\(?:overline|bar)\s?(?:\{(\d+)\}|(\d))|\\dot\s?\{?(\d)\}?(?:(\d*)\\dot\s?\{?(\d)\}?)?|(?<=\.)\((\d+)\))(?!\d)/g;
/** 1.2e4 is scientific; 2e+1 is one more than twice Euler's number, 1.5e-3 and 1e-10 are not. */
const SCIENTIFIC = /(?<![\d.A-Za-z])(\d+\.\d+)e([+-]?\d+)|(?<![\d.A-Za-z])(\d+)e(\d+|[+-]\d{2,})(?!\d|\.\d)/g;
const MIXED = /(?<![\d./^_])(\d+)\s+(\d+)\s?\/\s?(\d+)(?!\d|\.\d)/g;
const BASE_WORD = /(\d)\)?\s*\\text\{\s*\(?\s*base[- ]?\s*(\d+|[a-z]+)\s*\)?\s*\}/g;
const BASE_NUMBER = /(\d)\s*\\text\{\s*base\s*\}\s*(\d+)/g;
const BRACKETED_BASE = /\((\d+)\)_(\{(?:\d+|\\text\{[a-z ]+\}|\(\d+\))\}|\d)/g;
const NAMED_BASE =
  /(\d)_(?:\{(?:\\text\{\s*(?:base[- ]?\s*)?([a-z]+|\d+)\s*\}|\((\d+)\))\}|\\text\{\s*(?:base[- ]?\s*)?([a-z]+|\d+)\s*\})/g;
const BASES = new Map(
  "two three four five six seven eight nine ten eleven twelve"
    .split(" ")
    .map((name, i) => [name, `${i + 2}`]),
);

const NUMERALS: readonly Rewrite[] = [
  [
    /\d(?:\\|\{|,\\|~|'| )/,
    (text) =>
      text.replace(
        GROUPED,
        (_, head: string, thin: string, rest: string) => head + rest.replaceAll(thin, ""),
      ),
  ],
  [
    /\.\d*[\\(]/,
    (text) => text.replace(REPEATING, (_, ...groups: (string | undefined)[]) => repeating(groups)),
  ],
  [
    /\de[-+\d]/,
    (text) => text.replace(SCIENTIFIC, (_, ...[a, b, c, d]: (string | undefined)[]) => `${a ?? c}E${b ?? d}`),
  ],
  [
    /\d\s+\d+\s?\//,
    (text) => text.replace(MIXED, (whole, n: string, a: string, b: string) => mixed(n, a, b) ?? whole),
  ],
  [
    /base/,
    (text) =>
      text
        .replace(BASE_WORD, (whole, digit: string, base: string) => subscript(digit, base) ?? whole)
        .replace(BASE_NUMBER, "$1_{$2}"),
  ],
  [/\)_/, (text) => text.replace(BRACKETED_BASE, "$1_$2")],
  [
    /\d_[{\\]/,
    (text) =>
      text.replace(
        NAMED_BASE,
        (whole, digit: string, ...bases: (string | undefined)[]) =>
          subscript(digit, bases.slice(0, 3).find((base) => base !== undefined)!) ?? whole,
      ),
  ],
];

/**
 * Rewrites numbers in the one spelling that the grammar reads: separated thousands (1\,000, 1{,}000, 1 000),
 * repeating decimals (0.\overline{6} becomes \frac{2}{3}), 1.2e4, "2 1/2", (1011)_2 and "1011 base two".
 */
export function plainNumerals(text: string): string {
  return NUMERALS.reduce((done, [when, rewrite]) => (when.test(done) ? rewrite(done) : done), text);
}

/** Removes the commas of a number in groups of three, if it is the only number of the text. */
export function withoutGroupCommas(text: string): string {
  const match = text.includes(",") ? LONE_GROUPED.exec(text) : null;
  return match ? `${match[1]}${match[2]!.replaceAll(",", "")}${match[3]}` : text;
}

/**
 * A repeating decimal as a fraction, from its whole part, its fixed digits and its period, which is written
 * as \overline{..}, as digits between two dots, or in brackets.
 */
function repeating([whole = "", fixed = "", over, bare, first, middle, last, bracketed]: (
  | string
  | undefined
)[]): string {
  const dotted = last === undefined ? first : `${first}${middle}${last}`;
  const period = over ?? bare ?? bracketed ?? dotted ?? "";
  const all = BigInt(`${whole}${fixed}${period}`);
  const head = BigInt(`0${whole}${fixed}`);
  const below = (10n ** BigInt(period.length) - 1n) * 10n ** BigInt(fixed.length);
  return `{\\frac{${all - head}}{${below}}}`;
}

const mixed = (whole: string, above: string, below: string): string | undefined =>
  BigInt(above) < BigInt(below) ? `${whole}\\frac{${above}}{${below}}` : undefined;

function subscript(digit: string, base: string): string | undefined {
  const number = /^\d+$/.test(base) ? base : BASES.get(base);
  return number === undefined ? undefined : `${digit}_{${number}}`;
}
