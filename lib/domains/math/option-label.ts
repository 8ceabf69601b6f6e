/** An option's letter with its value: "(C) 12", "\text{(C) }12", "C. 12". */
export interface Labelled {
  readonly letter: string;
  /** The option's value; empty if the answer is only the letter. */
  readonly rest: string;
  /** True if the label cannot be a product of names, because it is written as a text or followed by a mark. */
  readonly isSure: boolean;
}

const FONT = String.raw`\\(?:text|textbf|textrm|textit|mathrm|mathbf)\s*`;
const GAP = String.raw`(?:\s|~|\\[ ,;:!]|\\q?quad(?![A-Za-z]))`;
/** Each form of a letter, and whether it is unambiguous. A value without a leading operator must follow it. */
const FORMS: readonly (readonly [RegExp, boolean])[] = [
  [
    new RegExp(
      String.raw`^${FONT}\{\s*(?:\(([A-J])\)|([A-J])[.:)])\s*\}${GAP}*((?:[-\d.([$A-Za-z]|\\(?!q?quad)[A-Za-z]).*)?$`,
      "s",
    ),
    true,
  ],
  [new RegExp(String.raw`^${FONT}\{\s*([A-J])\s*\}$`), true],
  [/^\(([A-J])\)$/, true],
  [new RegExp(String.raw`^\(([A-J])\)${GAP}+((?:[\d.([$A-Za-z]|\\(?!q?quad)[A-Za-z]).*)$`, "s"), false],
  [/^([A-J])[.:)]\s+((?:[-\d.([$A-Za-z]|\\[A-Za-z]).*)$/s, true],
  [/^([A-J])$/, false],
];
const OPERATOR =
  /^\\(?:approx|cdot|times|pm|mp|neq?|leq?|geq?|lt|gt|to|rightarrow|Rightarrow|implies|iff|equiv|sim|cong|div|cup|cap|in|mid|land|lor|vee|wedge)(?![A-Za-z])/;
/** Text that says more than one option: another letter, or another answer. */
const MORE =
  /\([A-J]\)|\{\s*\(?[A-J]\)?[.:]?\s*\}|(?<![A-Za-z])(?:or|and|not|either)(?![A-Za-z])|(?:^|[\s,;])[A-J](?:$|[\s,;.])/;

const ANY_LETTER = /\(([A-J])\)|\{\s*\(?([A-J])\)?[.:]?\s*\}/g;

/** True if an answer names two or more options, each in brackets or in its own font. */
export const namesSeveral = (boxed: string): boolean =>
  new Set([...boxed.matchAll(ANY_LETTER)].map(([, inBrackets, inFont]) => inBrackets ?? inFont)).size > 1;

/** The option that an answer names; undefined if it names none, or several. */
export function optionOf(boxed: string): Labelled | undefined {
  const text = boxed.trim();
  for (const [form, isSure] of FORMS) {
    const found = form.exec(text);
    if (found === null) continue;
    const [letter = "", rest = ""] = found.slice(1).filter((group) => group !== undefined);
    return MORE.test(rest) || OPERATOR.test(rest) ? undefined : { letter, rest: rest.trim(), isSure };
  }
  return undefined;
}
