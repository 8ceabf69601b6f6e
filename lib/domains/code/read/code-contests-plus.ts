import { existsSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { jsonAt } from "../../../data/raw-row.ts";
import { type DatasetOptions, isBad, type RowReader, readFields } from "../../../data/row-reader.ts";
import { HoneError } from "../../../errors.ts";
import { needsTestlib, TESTLIB } from "../testlib-header.ts";
import { programDraft } from "./programs.ts";
import { readTests } from "./tests.ts";

export interface CodeContestsPlusOptions extends DatasetOptions {
  /** Keeps the first tests of a problem, up to this number. Default: all. */
  readonly maxTests?: number | undefined;
  /** Path of testlib.h, which checkers include. Default: beside the data. */
  readonly testlib?: string | undefined;
}

const rowSchema = z.object({
  description: z.string().trim().min(1),
  checker: z.string().trim().min(1),
  test_cases: z.array(z.object({ input: z.string(), output: z.string() })),
  correct_submissions: z.array(z.object({ code: z.string(), language: z.string() })).nullish(),
});
/** Number of a row's solutions that are tried as gold answers. */
const MAX_SOLUTIONS = 3;

/**
 * CodeContests+: problems of programming contests with tests and, for each problem, a checker in C++ that judges what
 * a program prints. Its configurations 1x to 5x have tests; rows without any are left out.
 * Source: Wang et al. 2025, data set card ByteDance-Seed/Code-Contests-Plus.
 */
export const codeContestsPlus: RowReader<CodeContestsPlusOptions> = {
  domain: "code",
  verifier: "checker",
  options: { maxTests: z.int().positive().optional(), testlib: z.string().min(1).optional() },
  columns: Object.keys(rowSchema.shape),
  open({ template, maxTests, testlib, path }) {
    const place = placeOf(testlib, path);
    return (raw) => {
      const row = readFields(rowSchema, raw.value);
      if (isBad(row)) return row;
      if (row.test_cases.length === 0) return { leftOut: "no tests" };
      const tests = readTests(jsonAt(raw, ["test_cases"])!, { field: "test_cases", maxTests });
      if (!("inputOutput" in tests)) return tests;
      const solutions = (row.correct_submissions ?? [])
        .filter(({ language }) => /^py(?:thon)?3$/i.test(language))
        .slice(0, MAX_SOLUTIONS)
        .map(({ code }) => code);
      const draft = programDraft({ question: row.description, solutions }, tests, template);
      const judge = { checker: row.checker, ...(needsTestlib(row.checker) && { testlib: place() }) };
      return {
        ...draft,
        reference: { ...(draft.reference as object), ...judge },
        family: "code-contests-plus",
        level: 0,
      };
    };
  },
};

/** Path of testlib.h, searched when a checker includes it. Throws HONE_ERR_CONFIG if it is not found. */
function placeOf(given: string | undefined, path: DatasetOptions["path"]): () => string {
  let found: string | undefined;
  const candidates = given === undefined ? [path].flat().map(beside) : [resolve(given)];
  return () => {
    if (found !== undefined) return found;
    found = candidates.find((one) => existsSync(one));
    if (found !== undefined) return found;
    throw new HoneError(
      "HONE_ERR_CONFIG",
      `the checkers of code-contests-plus include testlib.h, which is not at ${candidates.join(", ")}`,
      {
        hint: 'Download it from https://github.com/MikeMirzayanov/testlib, and put it there or name it: source: { kind: "code-contests-plus", path, testlib: "lib/testlib.h" }.',
      },
    );
  };
}

const beside = (path: string): string =>
  resolve(
    statSync(path, { throwIfNoEntry: false })?.isDirectory()
      ? join(path, TESTLIB)
      : join(dirname(path), TESTLIB),
  );
