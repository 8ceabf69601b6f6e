import { bracedArguments, fractionsOfOver, withoutLabelledBraces } from "./brace-groups.ts";
import { plainNumerals, withoutGroupCommas } from "./numerals.ts";
import { bareUnits, currencyWords, isPhrase } from "./unit-names.ts";

/** A pattern and its replacement, only for texts that contain `when`, which is quicker to search. */
type Rewrite = readonly [pattern: RegExp, replacement: string, when?: string];

/** Unicode that has a spelling in LaTeX. */
const CHARACTERS: readonly Rewrite[] = [
  [/[\u00a0\u2000-\u200a\u202f\u205f\u3000]/g, " "],
  [/[\u200b-\u200d\u2060\ufeff]/g, ""],
  [/[\u2010-\u2015\u2212]/g, "-"],
  [/√\s?(\d+|\p{L})/gu, "\\sqrt{$1}"],
  [/√\s?\(([^()]*)\)/g, "\\sqrt{$1}"],
  [/√/g, "\\sqrt"],
  [/∛\s?(\d+|\{[^{}]*\})/g, "\\sqrt[3]{$1}"],
  [/(\d)?\s?[°º˚]/g, "$1^{\\circ}"],
  [/∞/g, "\\infty "],
  [/⁄/g, "/"],
  [/π/g, "\\pi "],
  [/…|⋯/g, "\\ldots "],
  [/[’‘′]/g, "'"],
  [/。/g, "."],
  [/、/g, ","],
];
const SUPERSCRIPTS = new Map([..."⁰¹²³⁴⁵⁶⁷⁸⁹"].map((c, i) => [c, `${i}`]));
const VULGAR = new Map(
  "½1/2 ⅓1/3 ⅔2/3 ¼1/4 ¾3/4 ⅕1/5 ⅖2/5 ⅗3/5 ⅘4/5 ⅙1/6 ⅚5/6 ⅛1/8 ⅜3/8 ⅝5/8 ⅞7/8".split(" ").map((s) => {
    const [above, below] = s.slice(1).split("/");
    return [s[0]!, `\\frac{${above}}{${below}}`];
  }),
);

/** Commands by name, without their backslash, and their replacement: nothing if they only change the look. */
const COMMANDS = new Map<string, string>();
const command = (replacement: string, names: string) => {
  for (const name of names.split(" ")) COMMANDS.set(name, replacement);
};
command("", "boldsymbol bm pmb mathbf mathit mathsf mathtt mathnormal underline fbox boxed framebox uline");
command(
  "",
  "ensuremath mathop mathord mathbin mathrel displaystyle textstyle scriptstyle scriptscriptstyle bf it sf tt sl rm",
);
command(
  "",
  "bfseries itshape boldmath tiny scriptsize footnotesize small normalsize large Large LARGE huge Huge",
);
command("", "uuline limits nolimits strut mathstrut noindent centering hfill negthinspace");
command(
  "",
  "left right mleft mright big Big bigg Bigg bigl Bigl biggl Biggl bigr Bigr biggr Biggr bigm Bigm",
);
command(" ", "quad qquad thinspace medspace thickspace enspace");
command("\\text", "textbf textit textrm textnormal textsf texttt textup textsc textmd mathrm mbox hbox emph");
command("\\frac", "dfrac tfrac cfrac");
command("\\binom", "dbinom tbinom");
command("\\emptyset", "varnothing");
command("\\mathbb{R}", "R");
command("\\text{...}", "dots cdots ldots dotsc dotsb");
command("\\lor ", "vee");
command("^{\\circ}", "degree textdegree");
command("\\text{dollars}", "mathdollar textdollar");
command("\\text{GBP}", "pounds");
command("\\text{euros}", "euro");
command("\\\\", "cr");

const DRESS: readonly Rewrite[] = [
  [/\\\$/g, "\\text{dollars}", "\\$"],
  [/\$/g, "", "$"],
  [/\\m?(?:left|right)\s*\./g, "", "."],
  [/\{\\rm\s*([A-Za-z]+)\s*\}/g, "\\text{$1}", "\\rm"],
  [/\\(?:textcolor|color|colorbox)\s*(?:\[[^\]]*\])?\s*\{[^{}]*\}\s*/g, "", "color"],
  [/\\bbox\s*(?:\[[^\]]*\])?\s*/g, "", "\\bbox"],
  [/\\fcolorbox\s*\{[^{}]*\}\s*\{[^{}]*\}\s*/g, "", "color"],
  [/\\(?:[hv]?phantom|hspace\*?|vspace\*?|tag|label)\s*\{[^{}]*\}/g, " ", "\\"],
  [/\\\\\s*\[\s*-?[\d.]+\s*(?:pt|em|ex|mm|cm|in)\s*\]/g, "\\\\", "\\\\"],
  [/(?<!\\)\\[()[\]!]/g, "", "\\"],
  [/(?<!\\)\\[,;:> \n]/g, " ", "\\"],
  [/~(?!=)/g, " ", "~"],
];
const FUNCTIONS =
  "log|ln|exp|sin|cos|tan|csc|sec|cot|arcsin|arccos|arctan|arccot|sinh|cosh|tanh|arsinh|arcosh|artanh";
const FUNCTION_WORDS = new RegExp(
  String.raw`\\(?:text|operatorname\*?)\s*\{\s*(${FUNCTIONS})\s*\}|(?<![A-Za-z\\])(${FUNCTIONS})(?![A-Za-z])(?<!\\text\{[^{}]*)`,
  "g",
);
const OPERATOR_WORDS = /\\operatorname\*?\s*\{(?!\s*(?:gcd|lcm|max|min|floor|ceil|arc\w+|det)\s*\})/g;
const DEGREE_WORDS = /\\text\s*\{\s*(?:°|\^\{\\circ\}|degrees?)\s*\}|(?<=\d\s*)degrees?(?![A-Za-z])/g;
const PERCENT_WORDS =
  /\\text\s*\{\s*(?:\\?%|percent|per cent|pct|percentage)\s*\}|\s*(?<![A-Za-z])(?:percent|percentage|pct)(?![A-Za-z])/g;
/** Matches "and" after an inequality. */
const BOTH =
  /(?<=(?:[<>≤≥]|\\[lg](?:e|t|eq|eqslant)(?![A-Za-z]))[^,;]*),?\s*(?:\\text\s*\{\s*,?\s*and\s*\}|(?<![A-Za-z\\])and(?![A-Za-z])|\\wedge(?![A-Za-z]))/g;

const SPELLINGS: readonly Rewrite[] = [
  [/(?<!\\text\s*)\{\s*([()[\]|.,:;=<>+-])\s*\}/g, "$1", "{"],
  [/[\n\t]/g, " "],
  [/\\text\s*\{\s*([deiT])\s*\}/g, "$1", "\\text"],
  [/\\text\s*\{\s*\}/g, " ", "\\text"],
  [/\\text\s*\{\s*(?:the )?empty set\s*\}/gi, "\\emptyset", "empty"],
  [/(?<=[,+*]\s*)\.\.\./g, "\\text{...}", "..."],
  [/\^\s*(?:\{\s*(?:\\circ|\^\{\\circ\})\s*\}|\\circ(?![A-Za-z])|\^\{\\circ\})/g, "^{\\circ}", "\\circ"],
  [DEGREE_WORDS, "^{\\circ}", "degree"],
  [DEGREE_WORDS, "^{\\circ}", "circ"],
  [/\^\{\\circ\}\s*(?:\\text\s*\{\s*([CF])\s*\}|([CF])(?![A-Za-z]))/g, "\\text{°$1$2}", "\\circ"],
  [PERCENT_WORDS, "\\%", "per"],
  [PERCENT_WORDS, "\\%", "pct"],
  [PERCENT_WORDS, "\\%", "%"],
  [/\\frac\{\\text\{([^{}]*)\}\}\{\\text\{([^{}]*)\}\}/g, "\\text{$1/$2}", "\\text"],
  [/\\frac\{\\text\{([^{}]*)\}\}\{\\text\{([^{}]*)\}\^\{?(\d)\}?\}/g, "\\text{$1/$2^$3}", "\\text"],
  [BOTH, "\\land ", "and"],
  [/,?\s*\\text\s*\{\s*,?\s*and\s*\}|,?\s*(?<![A-Za-z\\])and(?![A-Za-z])/g, ",", "and"],
  [/,?\s*\\text\s*\{\s*,?\s*or\s*\}|,?\s*(?<![A-Za-z\\])or(?![A-Za-z])/g, "\\lor ", "or"],
  [/,\s*,/g, ",", ","],
  [/\\text\s*\{\s*([.,:;+=-])\s*\}/g, "$1", "\\text"],
  [FUNCTION_WORDS, "\\$1$2 "],
  [OPERATOR_WORDS, "\\text{", "\\operatorname"],
  [/(?<=[\d)}])!=/g, "! =", "!="],
  [/\*\*/g, "^", "**"],
  [/\\frac\s+([A-Za-z\d])\s+([A-Za-z\d])(?!\d)/g, "\\frac{$1}{$2}", "\\frac "],
  [/(?<=\d\s*)''\s*$/g, "\\text{in}", "''"],
  [/^["“](.+)["”]$/g, "$1"],
  [/\\text\s*\{\s*infinity\s*\}|(?<![A-Za-z\\])infinity(?![A-Za-z])/g, "\\infty", "infinity"],
  [/\\(begin|end)\{(?:small|[BV])matrix\}/g, "\\$1{pmatrix}", "matrix"],
  [/~=/g, "\\approx ", "~="],
  [/(?<![A-Za-z\\])sqrt(?=[({])/g, "\\sqrt", "sqrt"],
];
const SET_BUILDER =
  /^\\\{\s*([A-Za-z])\s*(?:\\in\s*\\mathbb\{R\}|∈\s*ℝ)?\s*(?:\\mid(?![A-Za-z])|\\vert(?![A-Za-z])|\||:)\s*(.*)\\\}$/;
const LABEL =
  /^(?:\\text\s*\{\s*([A-Za-z ]*?)\s*(:?)\s*\}|(?:the )?(?:final )?answer(?: is)?)\s*([:=])?\s*(?=\S)/i;
const ANSWER =
  /^(?:(?:so|thus|hence|therefore),? )?(?:the |our |my )?(?:final |correct )?(?:answer|result|solution)(?: is)?$/i;
/** Text that may introduce an answer or end it as a sentence. */
const LEADING =
  /^(?:\s|\\(?:therefore|implies|Rightarrow|Longrightarrow|rightarrow|to|approx)(?![A-Za-z])|≈|[:=](?!=))+/;
const TRAILING = /(?:\s|\\(?:\\|blacksquare|qed|checkmark|$)|(?<!\.\s*)[.]|[,;:])+$/;

/** A text of words only, in several pieces: \text{Mon}\text{day}. */
const TEXTS = /^\s*\\text\s*\{[A-Za-z ]*\}(?:\s*\\text\s*\{[A-Za-z ]*\})+\s*\.?\s*$/;

/**
 * The content of a box without markup that only changes its look: fonts, sizes, colours, spacing, frames, delimiters'
 * sizes, labels such as "Answer:", the period of a sentence. Unifies spellings and sets unit words in \text{}. Never
 * changes a value; leaves unknown commands in place.
 */
export function plainLatex(boxed: string): string {
  if (/^\d+$/.test(boxed)) return boxed;
  let text = rewritten(plainNumerals(/[^ -~\n\t]/.test(boxed) ? plainCharacters(boxed) : boxed), DRESS);
  if (text.includes("\\"))
    text = text.replace(/\\([A-Za-z]+)/g, (whole, name: string) => COMMANDS.get(name) ?? whole);
  if (text.includes("brace")) text = withoutLabelledBraces(text);
  if (TEXTS.test(text)) text = text.replace(/\}\s*\\text\s*\{/g, "");
  text = withoutLabel(unwrapped(trimmed(rewritten(text, SPELLINGS))));
  text = bareUnits(text.replace(SET_BUILDER, "$2"));
  text = forwardBrackets(withoutGroupCommas(fractionsOfOver(bracedArguments(text))));
  if (/base|_/.test(text)) text = plainNumerals(text);
  if (text.includes("\\\\") && !text.includes("matrix")) text = text.replace(/\\\\(?=[a-zA-Z])/g, "\\");
  return text;
}

function plainCharacters(text: string): string {
  const narrow = text.normalize("NFC").replace(/[！-～]/g, (c) => c.normalize("NFKC"));
  return currencyWords(rewritten(narrow, CHARACTERS))
    .replace(/[⁰¹²³⁴-⁹]+/g, (digits) => `^{${[...digits].map((c) => SUPERSCRIPTS.get(c)).join("")}}`)
    .replace(/[½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞]/g, (c) => VULGAR.get(c)!);
}

function rewritten(text: string, rewrites: readonly Rewrite[]): string {
  let done = text;
  for (const [pattern, replacement, when] of rewrites) {
    if (when === undefined || done.includes(when)) done = done.replace(pattern, replacement);
  }
  return done;
}

function trimmed(text: string): string {
  let kept = text.replace(LEADING, "");
  if (/[\s.,;:\\]$|\\[a-z]+$/.test(kept)) kept = kept.replace(TRAILING, "");
  if (!kept.endsWith("}") || !kept.includes("\\text")) return kept;
  return kept.replace(/(?<=\\text\s*\{[^{}]*[^{}.\s])\s*[.]\s*\}$/, "}");
}

/** A formula, optionally introduced by words: "Answer: 12", "x = 5", "The answer is 12". */
const FORMULA = /^\s*(?:(?:the )?(?:final )?answer(?: is)?\s*[:=]?\s*|[A-Za-z]\s*=\s*)?[-\\\d(]/i;

/** Removes {…} or \text{…} around the whole answer if it contains a formula. */
function unwrapped(text: string): string {
  const open = /^(?:\\text\s*)?\{/.exec(text)?.[0];
  if (open === undefined || !text.endsWith("}") || !encloses(text, open.length - 1)) return text;
  if (/\\(?:choose|over)(?![A-Za-z])/.test(text)) return text;
  const inner = text.slice(open.length, -1);
  if (open !== "{" && !FORMULA.test(inner)) return text;
  return unwrapped(trimmed(inner));
}

/** True if the brace at `open` closes at the end of the text. */
function encloses(text: string, open: number): boolean {
  let depth = 0;
  for (let i = open; i < text.length; i++) {
    if (text[i] === "\\") i++;
    else if (text[i] === "{") depth++;
    else if (text[i] === "}" && --depth === 0) return i === text.length - 1;
  }
  return false;
}

/** "Answer: 7", "\text{Area: } 7" and "\text{The answer is } 7" are 7; a word that changes the meaning stays. */
function withoutLabel(text: string): string {
  const match = LABEL.exec(text);
  if (match === null) return text;
  const [whole, words, colon, sign] = match;
  const label =
    words === undefined ||
    ANSWER.test(words) ||
    ((colon || sign === ":") && words.length > 1 && isPhrase(words));
  const rest = text.slice(whole.length);
  return label && rest !== "" ? unwrapped(trimmed(rest)) : text;
}

/** Rewrites ]0,1[ as (0,1) if some bracket faces outward. */
function forwardBrackets(text: string): string {
  if (!text.includes("]") && !text.includes("[")) return text;
  const places = [...text.matchAll(/\\sqrt\s*\[[^\][]*\]|[[\]]/g)]
    .filter(([bracket]) => bracket.length === 1)
    .map((match) => match.index);
  const pairs = places.filter((_, i) => i % 2 === 0).map((open, i) => [open, places[2 * i + 1]] as const);
  const reversed = pairs.some(
    ([open, close]) => text[open] === "]" || (close !== undefined && text[close] === "["),
  );
  const whole = pairs.every(
    ([open, close]) => close !== undefined && /^[^,;]+[,;][^,;]+$/.test(text.slice(open + 1, close)),
  );
  if (!reversed || !whole) return text;
  const characters = [...text];
  if (characters.length !== text.length) return text;
  for (const [open, close] of pairs) {
    if (text[open] === "]") characters[open] = "(";
    if (text[close!] === "[") characters[close!] = ")";
  }
  return characters.join("");
}
