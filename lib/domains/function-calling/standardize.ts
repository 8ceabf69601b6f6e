const IGNORED = /[ ,./\-_*^]/g;

/**
 * A text as the reference compares texts: without ` ,./-_*^`, in lower case, single quotes as double ones. So "April 1,
 * 2024" is "april 1 2024", but also "a/b" is "a*b" and "-5" is "5".
 */
export function standardize(text: string): string {
  return text.replace(IGNORED, "").toLowerCase().replaceAll("'", '"');
}
