/**
 * Which tests run beside those of `npm test`, by HONE_TEST_ALL: "landing" those that `.ci/run` adds before every change
 * (`npm run test:long` runs the files that have such), "1" all (`npm run test:all`).
 */
export function levels(asked: string | undefined): { readonly long: boolean; readonly longest: boolean } {
  return { long: asked === "1" || asked === "landing", longest: asked === "1" };
}

/** `long`: what `.ci/run` adds. `longest`: what runs by hand, and in `.ci/run` where HONE_CI_LONG is set. */
export const { long, longest } = levels(process.env["HONE_TEST_ALL"]);

/** Whether runs are worn down for hours: `npm run test:chaos`. */
export const soak = process.env["HONE_SOAK"] !== undefined;

const IMPORTS_LONG = /^import \{[^}]*\blong\b[^}]*\} from "[./]+\/long\.ts";$/m;

/** Whether a test file has tests that `npm run test:long` runs and `npm test` leaves out. @param text its source. */
export const hasLong = (text: string): boolean => IMPORTS_LONG.test(text);
