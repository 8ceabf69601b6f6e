/** Mistakes of files that other programs wrote, each with what to do; the first that applies is named. */
const MISTAKES: readonly (readonly [found: (text: string) => boolean, fault: string])[] = [
  [(text) => /^\s*[{[]/.test(text) && isJson(text.replace(/,\s*$/, "")), "not JSON: a comma after the row"],
  [(text) => isJson(text.replaceAll(/-?(?:NaN|Infinity)/g, "null")), "not JSON: NaN or Infinity; write null"],
  [
    (text) => /^\s*\{\s*'/.test(text),
    "not JSON: a dict as Python prints it; json.dumps(row) writes a row of JSON",
  ],
];

/** Returns why the text of a row is not JSON, and what to do about it if the mistake is a common one. */
export function jsonFault(text: string): string {
  return MISTAKES.find(([found]) => found(text))?.[1] ?? "not JSON";
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
