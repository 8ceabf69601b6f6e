const IGNORED = /[ ,./\-_*^]/g;

/**
 * Normalises a text as the reference does before a comparison: removes ` ,./-_*^`, converts to lower case, and
 * replaces single quotes by double ones. So "April 1, 2024" equals "april 1 2024", but also "a/b" equals "a*b", and
 * "-5" equals "5".
 */
export function standardize(text: string): string {
  return text.replace(IGNORED, "").toLowerCase().replaceAll("'", '"');
}
