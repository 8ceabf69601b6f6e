/**
 * Which tests run in addition to those of `npm test` and `npm run test:processes`, by HONE_TEST_ALL: "landing" adds
 * those that `.ci/run` runs before every change, "1" adds all. `npm run test:long` runs the files with such tests,
 * `npm run test:all` every file.
 */
export function levels(asked: string | undefined): { readonly long: boolean; readonly longest: boolean } {
  return { long: asked === "1" || asked === "landing", longest: asked === "1" };
}

/**
 * `long`: tests that `.ci/run` adds: pages, labelled cases, the script of the GPU check. `longest`:
 * tests that search for rare orders of events (chaos, repeated kill -9, clock jumps, Slurm, growth over thousands of
 * steps) or take minutes; they run by hand and in `.ci/run` with HONE_CI_LONG.
 */
export const { long, longest } = levels(process.env["HONE_TEST_ALL"]);

/** True for `npm run test:chaos`, which kills and resumes runs for hours. */
export const soak = process.env["HONE_SOAK"] !== undefined;

const IMPORTS_LONG = /^import \{[^}]*\b(?:long|longest)\b[^}]*\} from "[./]+\/long\.ts";$/m;

/** True if a test file has tests that only `npm run test:long` and a landing run. @param text its source. */
export const hasLong = (text: string): boolean => IMPORTS_LONG.test(text);
