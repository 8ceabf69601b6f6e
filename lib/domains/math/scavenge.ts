import { boxContents } from "./boxed.ts";
import { parseAnswer } from "./parser.ts";
import { negate, parseDecimal } from "./rational.ts";
import { type Reading, readLatex } from "./reading.ts";
import { type Expr, isExpr, number, type Value } from "./syntax.ts";

/** Letters in either case. */
const anyCase = (word: string) => word.replace(/[a-z]/g, (c) => `[${c}${c.toUpperCase()}]`);
const ANSWER = anyCase("answer");
const FINAL = anyCase("final answer");

const NUMBER =
  "(?<!\\d)(?:(-?[1-9]\\d{0,2}(?:[ ,]\\d{3})+)(\\.\\d+)?|(-?\\d+)([.,]\\d+)|(\\.\\d+)|(-?\\d+))" +
  "(\\s*(?:%|[Pp]ercent|\\s*[Pp]ercentage|\\s*[Pp]ct))?";
const SIGNS = "\\+\\-*×/^()÷";
const EXPRESSION = `(-?\\(?-?\\d[\\d.\\s${SIGNS}]*[${SIGNS}][\\d.\\s${SIGNS}]+\\)?)`;
const BEFORE = "(?:^|\\s|=)(?:\\*\\*)?";
const AFTER = "(?:\\*\\*)?(?:\\.|,|:|\\s|\\)|\\$|$)";
const ANCHORED_EXPRESSION = `(?:${BEFORE}${EXPRESSION}${AFTER})`;
const ANCHORED_NUMBER = `(?:${BEFORE}[$€£¥₹₽₩฿]?${NUMBER})`;
const PLAIN = `(?:${ANCHORED_EXPRESSION}|${ANCHORED_NUMBER})`;

/** Delimited formulas and, unless they must contain a box, bare fractions; each may be followed by a percent sign. */
function environment(boxed: boolean): string {
  const around = (content: string) =>
    boxed ? `(${content}*?\\\\boxed\\{${content}+?\\}${content}*?)` : `(${content}+?)`;
  const forms = [
    `(?<!\\\\)\\$\\$${around("(?:[^$]|\\$(?!\\$))")}(?<!\\\\)\\$\\$`,
    `(?<!\\\\)\\\\\\[${around("(?:[^\\\\]|\\\\(?!\\]))")}(?<!\\\\)\\\\\\]`,
    `(?<![\\\\\\d])\\$${around("(?:\\\\[$]|[^\\n$])")}(?<!\\\\)\\$`,
    `(?<!\\\\)\\\\\\(${around("(?:[^\\\\\\n]|\\\\(?!\\)))")}(?<!\\\\)\\\\\\)`,
    `\\s\\[${around("[^\\n\\]\\[]")}\\]\\s`,
    boxed ? "($^)" : "(-?\\\\frac\\{-?\\d+(?:[.,]\\d+)?\\}\\{-?\\d+(?:[.,]\\d+)?\\})",
  ];
  return `(?:(?:${forms.join("|")})\\s*((?:\\\\?%|[Pp]ercent|[Pp]ercentage|[Pp]ct))?)`;
}
const GROUPS = 7;
const LISTED = 5;
/** Up to six formulas joined by "and", "or" or commas. */
const formulas = (boxed: boolean) =>
  `(?:${environment(boxed)}${`(?:\\s*(?:,?and|,?or|,)\\s*${environment(boxed)})?`.repeat(LISTED)})`;
const LATEX = formulas(false);

interface Pattern {
  readonly kind: "latex" | "plain" | "box";
  readonly regex: RegExp;
}
const latex = (source: string): Pattern => ({ kind: "latex", regex: new RegExp(source, "gs") });
const plain = (source: string): Pattern => ({ kind: "plain", regex: new RegExp(source, "g") });

/** Most specific first; the first group that yields a value ends the search. */
const PRIORITIES: readonly (readonly Pattern[])[] = [
  [
    latex(`${FINAL} [iI][sS]:?\\s*${LATEX}\\.?\\s?I hope`),
    plain(`${FINAL} [iI][sS]:?\\s*${PLAIN}\\.?\\s?I hope`),
  ],
  [
    latex(`${FINAL}.{0,100}?\\s+is:?\\s*${LATEX}`),
    latex(formulas(true)),
    { kind: "box", regex: /\\boxed\{.+\}/gs },
    plain(`${FINAL}.{0,100}?\\s+is:?${PLAIN}`),
  ],
  [latex(`${ANSWER}:.{0,50}?${LATEX}`), plain(`${ANSWER}:(?:.{0,100}=\\s*|.{0,50}?)${PLAIN}(?!\\s*=)`)],
  [latex(`${ANSWER}.{0,50}?${LATEX}`), plain(`${ANSWER}(?:.{0,100}=\\s*|.{0,50}?)${PLAIN}(?!\\s*=)`)],
  [latex(LATEX), plain(ANCHORED_EXPRESSION), plain(ANCHORED_NUMBER)],
];

/**
 * Reads an answer the way the reference does: the box, unless "the final answer is" follows it, and when the box
 * holds no expression, the last formula or bare number in or after it. Undefined when nothing was found at all.
 * Source: Math-Verify 0.8 `parse` with its LaTeX and plain-expression extractors.
 * @param tail at most 1,000 characters; the patterns are quadratic in it.
 */
export function scavenge(tail: string): Reading | undefined {
  let text = "";
  for (const patterns of PRIORITIES) {
    const found = patterns.flatMap(({ kind, regex }) =>
      [...tail.matchAll(regex)].map((match) => ({ kind, match })),
    );
    const end = ({ match }: (typeof found)[number]) => match.index + match[0].length;
    found.sort((a, b) => end(b) - end(a) || a.match.index - b.match.index);
    for (const { kind, match } of found) {
      const reading = READERS[kind](match);
      if (reading === undefined) continue;
      text ||= reading.text;
      if (reading.parsed) return { ...reading, text };
    }
  }
  return text === "" ? undefined : { text, value: undefined, parsed: false, approximations: [] };
}

const READERS: Readonly<Record<Pattern["kind"], (match: RegExpExecArray) => Reading | undefined>> = {
  box: (match) => readLatex(boxContents(match[0], false)),
  latex: readEnvironments,
  plain: readPlain,
};

function readEnvironments(match: RegExpExecArray): Reading | undefined {
  const readings: Reading[] = [];
  for (let first = 1; first < match.length; first += GROUPS) {
    const source = match.slice(first, first + GROUPS - 1).find((group) => group !== undefined);
    if (source === undefined) continue;
    const reading = readLatex(boxContents(source, true));
    readings.push(match[first + GROUPS - 1] === undefined ? reading : percent(reading));
  }
  const [only] = readings;
  if (readings.length < 2 || !readings.every((r) => r.parsed)) return only;
  const items = readings.flatMap((r): readonly Value[] =>
    r.value === undefined ? [] : r.value.kind === "set" ? r.value.items : [r.value],
  );
  const complete = readings.every((r) => r.value !== undefined);
  return {
    text: readings.map((r) => r.text).join(" and "),
    value: complete ? { kind: "set", items } : undefined,
    parsed: true,
    approximations: [],
  };
}

function percent(reading: Reading): Reading {
  const { value } = reading;
  return value !== undefined && isExpr(value)
    ? { ...reading, value: { kind: "percent", of: value } }
    : reading;
}

/** Reads a match of PLAIN: the group of an expression and the seven groups of NUMBER, of which a pattern may lack either. */
function readPlain(match: RegExpExecArray): Reading | undefined {
  const groups = match.slice(1);
  const digits = groups.length === 1 ? [] : groups.slice(-GROUPS);
  const expression = groups.length === GROUPS ? undefined : groups[0];
  const whole = (digits[0] ?? digits[2] ?? digits[5] ?? "").replace(/[ ,]/g, "").replace(/^0+/, "");
  const fraction = (digits[1] ?? digits[3] ?? digits[4] ?? "").replace(",", ".");
  if (digits.some((group) => group !== undefined))
    return readNumber(whole || "0", fraction, digits[6] !== undefined);
  if (expression === undefined) return undefined;
  const text = expression.replaceAll("\n", " ").replace(/(\d)\.(?!\d)/g, "$1.0");
  const reading: Reading = { text: expression, value: undefined, parsed: false, approximations: [] };
  try {
    if (/[×÷]|[\d)]\s+[\d(]|\d\(|\)\d/.test(text)) return reading;
    const value = parseAnswer(text, { imaginary: false, strict: false });
    return { ...reading, value, parsed: true };
  } catch {
    return reading;
  }
}

function readNumber(whole: string, fraction: string, isPercent: boolean): Reading {
  const size = parseDecimal(`${whole.replace("-", "")}${fraction}`);
  const value = whole.startsWith("-") ? negate(size) : size;
  const bare: Expr = number(value, fraction === "" ? "integer" : "decimal");
  return {
    text: `${whole}${fraction}`,
    value: isPercent ? { kind: "percent", of: bare } : bare,
    parsed: true,
    approximations: [],
  };
}
