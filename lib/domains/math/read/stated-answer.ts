/** An answer a row gives, and where in the row it was: "answer, after ####". */
export interface StatedAnswer {
  readonly answer: string;
  readonly from: string;
}

/** A solution that is no longer than this may be the answer alone. */
const MAX_BARE_CHARS = 40;

/**
 * The answer that a field of a published row states: what follows its last `####` (GSM8K), else what its last `\boxed{}`
 * holds (MATH, and worked solutions), else all of it. Undefined where a worked solution states none, and where nothing follows
 * the `####`.
 * @param isWorked the field holds a solution, of which not all can be the answer.
 */
export function statedAnswer(field: string, text: string, isWorked = false): StatedAnswer | undefined {
  const hashes = text.lastIndexOf("####");
  if (hashes >= 0) {
    const answer = text.slice(hashes + "####".length).trim();
    if (answer !== "") return { answer, from: afterHashes(field) };
  }
  const boxed = lastBox(text);
  if (boxed !== undefined && boxed !== "") return { answer: boxed, from: `${field}, in \\boxed` };
  return hashes >= 0 || (isWorked && text.length > MAX_BARE_CHARS)
    ? undefined
    : { answer: text, from: field };
}

const notes = new Map<string, string>();

/** One text for each field, for the rows of a million. */
function afterHashes(field: string): string {
  const known = notes.get(field);
  if (known !== undefined) return known;
  const note = `${field}, after ####`;
  notes.set(field, note);
  return note;
}

/** What stands between the braces of the last box. */
function lastBox(text: string): string | undefined {
  const start = text.lastIndexOf("\\boxed{");
  if (start < 0) return undefined;
  let depth = 0;
  for (let at = start + "\\boxed".length; at < text.length; at++) {
    if (text[at] === "\\") at += 1;
    else if (text[at] === "{") depth += 1;
    else if (text[at] === "}" && --depth === 0) return text.slice(start + "\\boxed{".length, at).trim();
  }
  return undefined;
}
