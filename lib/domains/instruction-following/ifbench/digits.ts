/** Decimal digits of any script, and superscripts, subscripts, circled and the like. */
const DIGITS =
  /^[\p{Nd}\u00b2\u00b3\u00b9\u1369-\u1371\u19da\u2070\u2074-\u2079\u2080-\u2089\u2460-\u2468\u2474-\u247c\u2488-\u2490\u24ea\u24f5-\u24fd\u24ff\u2776-\u277e\u2780-\u2788\u278a-\u2792\u{10a40}-\u{10a43}\u{10e60}-\u{10e68}\u{11052}-\u{1105a}\u{1f100}-\u{1f10a}]+$/u;

/** str.isdigit(): at least one character, all digits; fractions and numerals such as ½ and Ⅻ do not count. */
export const isDigits = (text: string): boolean => DIGITS.test(text);
