/**
 * Which tests run beside those of `npm test`, by HONE_TEST_ALL: "landing" those that `.ci/run` adds before every change,
 * "1" all (`npm run test:long` runs the files that have such, `npm run test:all` every file).
 */
export function levels(asked: string | undefined): { readonly long: boolean; readonly longest: boolean } {
  return { long: asked === "1" || asked === "landing", longest: asked === "1" };
}

/**
 * `long`: tests that `.ci/run` adds: pages, labelled cases, a full disk, the script of the GPU check. `longest`: tests that
 * search for rare orders of events (chaos, repeated kill -9, clock jumps, Slurm, growth over thousands of steps) or take
 * minutes; they run by hand and in `.ci/run` with HONE_CI_LONG.
 */
export const { long, longest } = levels(process.env["HONE_TEST_ALL"]);

/** Whether runs are worn down for hours: `npm run test:chaos`. */
export const soak = process.env["HONE_SOAK"] !== undefined;

const IMPORTS_LONG = /^import \{[^}]*\b(?:long|longest)\b[^}]*\} from "[./]+\/long\.ts";$/m;

/** Whether a test file has tests that `npm test` leaves out and `npm run test:long` runs. @param text its source. */
export const hasLong = (text: string): boolean => IMPORTS_LONG.test(text);
