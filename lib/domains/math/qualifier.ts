/**
 * A statement about the range of a name in an answer: "for all real x", "n \ge 1", "k \in \mathbb{Z}", "where c is a
 * constant".
 */
export interface Qualifier {
  readonly names: readonly string[];
  readonly range: Range;
}

/** Values that a name may take. `any`: every value, with no kind stated. `constant`: a fixed, unknown number. */
export type Range =
  | "any"
  | "constant"
  | "complex"
  | "real"
  | "rational"
  | "integer"
  | "natural"
  | "positive"
  | "nonnegative";

/** A text without the qualifiers at its end, and those qualifiers. */
export interface Qualified {
  readonly core: string;
  readonly qualifiers: readonly Qualifier[];
}

const NAMES = String.raw`([A-Za-z](?:\s?(?:,|and)\s?[A-Za-z])*)`;
const EACH = "(?:for|and|where|with)? ?(?:all|any|every|each|some)?";
const KIND =
  "(positive integer|non-?negative integer|natural|real|complex|rational|integer|whole)s?(?: (?:number|value|constant)s?)?";
const SETS: readonly (readonly [RegExp, Range])[] = [
  [/^ℝ$/, "real"],
  [/^ℂ$/, "complex"],
  [/^ℚ$/, "rational"],
  [/^ℤ$/, "integer"],
  [/^ℕ$/, "natural"],
  [/^(?:ℤ\^?\{?\+\}?|ℤ_\{?>\s?0\}?|ℤ_\{?≥\s?1\}?|ℕ\^?\{?[*+]\}?|ℕ_\{?(?:\+|>\s?0|≥\s?1|1)\}?)$/, "positive"],
  [/^(?:ℤ_\{?≥\s?0\}?|ℕ_\{?(?:0|≥\s?0)\}?)$/, "nonnegative"],
];
const KINDS: ReadonlyMap<string, Range> = new Map([
  ["positive integer", "positive"],
  ["non-negative integer", "nonnegative"],
  ["nonnegative integer", "nonnegative"],
  ["natural", "natural"],
  ["whole", "natural"],
  ["real", "real"],
  ["complex", "complex"],
  ["rational", "rational"],
  ["integer", "integer"],
]);

type Reader = (names: string, rest: string) => Range | undefined;

/** Each phrasing of a qualifier, for a text whose sets and signs are single characters. */
const FORMS: readonly (readonly [RegExp, Reader])[] = [
  [new RegExp(`^${EACH} ?${NAMES} ?∈ ?(\\S{1,12})$`), (_, set) => SETS.find(([form]) => form.test(set))?.[1]],
  [new RegExp(`^(?:for|and) (?:all|any|every|each) (?:values? of )?${NAMES}()$`), () => "any"],
  [
    new RegExp(
      `^(?:where|with|and) ${NAMES} (?:is |are |being )?(?:any |an? |some )?(?:arbitrary )?(?:real )?constants?()$`,
    ),
    () => "constant",
  ],
  [
    new RegExp(`^(?:for|where|with) (?:some|any|an?) (?:arbitrary )?(?:real )?constants? ${NAMES}()$`),
    () => "constant",
  ],
  [new RegExp(`^for (?:all |any |every |each |some )?${KIND} ${NAMES}$`), (kind) => KINDS.get(kind)],
  [
    new RegExp(
      `^(?:where|with|and) ${NAMES} (?:is |are |being )?(?:any |an? |some )?(?:arbitrary )?${KIND}$`,
    ),
    (_, kind) => KINDS.get(kind),
  ],
  [
    /^(?:for|where|with)? ?(?:all )?([A-Za-z]) ?(≥ ?[01]|> ?0)$/,
    (_, bound) => (/1|>/.test(bound) ? "positive" : "nonnegative"),
  ],
  [
    /^(?:for|where|with)? ?([A-Za-z]) ?= ?(0, ?1, ?2|1, ?2, ?3|0, ?1|1, ?2)(?:, ?\d)*, ?…$/,
    (_, first) => (first.startsWith("1") ? "positive" : "nonnegative"),
  ],
];

const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\\(?:text|mathrm|textrm|textbf|textit|mbox|operatorname)\s*\{([^{}]*)\}/g, " $1 "],
  [/\\(?:mathbb|mathbf|Bbb)\s*\{?\s*([NZQRC])\s*\}?/g, "$1@"],
  [/R@|\\R(?![A-Za-z])/g, "ℝ"],
  [/C@/g, "ℂ"],
  [/Q@/g, "ℚ"],
  [/Z@|\\Z(?![A-Za-z])/g, "ℤ"],
  [/N@|\\N(?![A-Za-z])/g, "ℕ"],
  [/\\in(?![A-Za-z])/g, "∈"],
  [/\\(?:geqslant|geq|ge)(?![A-Za-z])|>=|⩾/g, "≥"],
  [/\\gt(?![A-Za-z])/g, ">"],
  [/\\forall(?![A-Za-z])|∀/g, " for all "],
  [/\\(?:ldots|dots|cdots|dotsc)(?![A-Za-z])|\.{3}|⋯/g, "…"],
  [/\\(?:quad|qquad|left|right|big|Big|bigl|bigr|displaystyle)(?![A-Za-z])|\\[,;:! ]|~|\$|\\[()[\]]/g, " "],
  [/\^\s*\{\s*([*+])\s*\}/g, "^$1"],
  [/\\ast(?![A-Za-z])/g, "*"],
  [/\s+/g, " "],
];

function spoken(text: string): string {
  let done = text;
  for (const [pattern, replacement] of SPELLINGS) done = done.replace(pattern, replacement);
  return done.trim();
}

/** Places where a qualifier may begin: after a separator, in brackets, at a word. */
const START =
  /[,;(]|\[|\\(?:quad|qquad|left|text|mathrm|textrm|mbox|forall)(?![A-Za-z])|\\[ ,;:]|∀|(?<![A-Za-z])(?:for|where|with|and)(?![A-Za-z])/g;
const MOST_STARTS = 12;
const MOST_QUALIFIERS = 3;
const SIGNS = /\\(?:in|forall|ge|geq|geqslant|gt)(?![A-Za-z])|[∈∀≥>=]|for|where|with|constant/;

/** The text without the qualifiers of its names at the end; undefined if there are none. */
export function withoutQualifiers(text: string): Qualified | undefined {
  if (!SIGNS.test(text)) return undefined;
  let core = text;
  const qualifiers: Qualifier[] = [];
  while (qualifiers.length < MOST_QUALIFIERS) {
    const last = lastQualifier(core);
    if (last === undefined) break;
    core = last.core;
    qualifiers.push(last.qualifier);
  }
  return qualifiers.length === 0 || core === "" ? undefined : { core, qualifiers };
}

function lastQualifier(text: string): { core: string; qualifier: Qualifier } | undefined {
  const starts = [...text.matchAll(START)].map(({ index }) => index).slice(-MOST_STARTS);
  for (const start of starts) {
    const qualifier = qualifierOf(text.slice(start));
    if (qualifier !== undefined) return { core: withoutJoint(text.slice(0, start)), qualifier };
  }
  return undefined;
}

/** Tries the earliest start first: in ", where c is a constant" the comma, not the "where". */
function qualifierOf(tail: string): Qualifier | undefined {
  const words = inBrackets(
    spoken(tail)
      .replace(/^[,;]\s*/, "")
      .replace(/[.,;。]$/, "")
      .trim(),
  );
  for (const [form, rangeOf] of FORMS) {
    const match = form.exec(words);
    if (match === null) continue;
    const [first = "", second = ""] = match.slice(1);
    const range = rangeOf(first, second);
    const names = KINDS.has(first) ? second : first;
    if (range !== undefined) return { names: names.split(/\s?(?:,|and)\s?/), range };
  }
  return undefined;
}

const inBrackets = (text: string): string =>
  (/^\((.*)\)$/.exec(text)?.[1] ?? /^\[(.*)\]$/.exec(text)?.[1] ?? text).trim();

const withoutJoint = (text: string): string =>
  text.replace(/(?:[\s,;]|\\(?:quad|qquad|left)|\\[ ,;:!]|~|\\text\s*\{\s*\})+$/, "");
