/** An answer in a row, and where it was found: "answer, after ####". */
export interface StatedAnswer {
  readonly answer: string;
  readonly from: string;
}

/** A solution of at most this many characters may be a bare answer. */
const MAX_BARE_CHARS = 40;

/**
 * The answer in a field of a published row: the text after its last `####` (GSM8K), else the content of its last
 * `\boxed{}` (MATH, and worked solutions), else the whole text. Undefined if a worked solution states none, or if
 * nothing follows the `####`.
 * @param isWorked true if the field holds a solution, which is not itself the answer
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

/** Cached text per field, shared by a million rows. */
function afterHashes(field: string): string {
  const known = notes.get(field);
  if (known !== undefined) return known;
  const note = `${field}, after ####`;
  notes.set(field, note);
  return note;
}

/** The content of the last box. */
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
