import { inflateSync } from "node:zlib";
import { z } from "zod";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowReader,
  readFields,
  readJson,
} from "../../../data/row-reader.ts";
import { HoneError } from "../../../errors.ts";
import { unpickleString } from "../../../python/unpickle.ts";

export interface LiveCodeBenchOptions extends DatasetOptions {
  /** First and last contest date, as "2024-07-01". Default: the window of the paper, 2024-07-01 to 2024-12-31. */
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

const testsSchema = z.array(
  z.object({ input: z.string(), output: z.string(), testtype: z.enum(["stdin", "functional"]) }),
);
const rowSchema = z.object({
  question_content: z.string().trim().min(1),
  contest_date: z.union([z.string(), z.date().transform((date) => date.toISOString())]),
  difficulty: z.string(),
  starter_code: z.string().nullish(),
  public_test_cases: z.string(),
  private_test_cases: z.string(),
  metadata: z.string().nullish(),
});
const metadataSchema = z.object({ func_name: z.string().min(1) });
const LEVELS = ["easy", "medium", "hard"];
/** Largest size of unpacked private tests. */
const MAX_TEST_BYTES = 1 << 30;

const PLAIN =
  "{task}\n\nWrite a Python program that reads the input from standard input and writes the answer to standard output. Put all of it in one ```python block.";
const STARTED =
  "{task}\n\nComplete this in Python and put all of it in one ```python block:\n\n```python\n{starter}\n```";

/**
 * LiveCodeBench: contest problems with public and private tests, chosen by contest date; for evaluation only.
 * The reference has the shape of TACO's: functional tests give one JSON value a line.
 * Source: data set card livecodebench/code_generation_lite, release_v5.
 */
export const liveCodeBench: RowReader<LiveCodeBenchOptions> = {
  domain: "code",
  verifier: "code",
  options: { from: z.iso.date().optional(), to: z.iso.date().optional() },
  alias: "lcb",
  benchmark: true,
  columns: [...Object.keys(rowSchema.shape)],
  open({ template, from = "2024-07-01", to = "2024-12-31" }) {
    return ({ value }) => {
      const row = readFields(rowSchema, value);
      if (isBad(row)) return row;
      const date = /^\d{4}-\d{2}-\d{2}/.exec(row.contest_date)?.[0];
      if (date === undefined) return { bad: "contest_date: no ISO date" };
      if (date < from || date > to) return { leftOut: "contest date outside the window" };
      const reference = readReference(row);
      if (isBad(reference)) return reference;
      const starter = row.starter_code?.trim() ?? "";
      const shape = template ?? (starter === "" ? PLAIN : STARTED);
      return {
        content: row.question_content,
        question: fill(shape, row.question_content).replace("{starter}", () => starter),
        family: "live-code-bench",
        level: Math.max(0, LEVELS.indexOf(row.difficulty.toLowerCase())),
        reference,
      };
    };
  },
};

function readReference(row: z.infer<typeof rowSchema>) {
  const open = readTests("public_test_cases", row.public_test_cases);
  if (isBad(open)) return open;
  const hidden = readTests("private_test_cases", row.private_test_cases);
  if (isBad(hidden)) return hidden;
  const tests = [...open, ...hidden];
  if (tests.length === 0) return { bad: "no tests" };
  const kinds = new Set(tests.map(({ testtype }) => testtype));
  if (kinds.size > 1) return { bad: "tests of both kinds" };
  const input_output = JSON.stringify({
    inputs: tests.map(({ input }) => input),
    outputs: tests.map(({ output }) => output),
  });
  if (kinds.has("stdin")) return { input_output };
  const metadata = readJson(metadataSchema, row.metadata ?? "", "metadata");
  if (isBad(metadata)) return metadata;
  return { input_output, fn_name: metadata.func_name };
}

function readTests(field: string, text: string): z.infer<typeof testsSchema> | { readonly bad: string } {
  const json = text.trimStart().startsWith("[") ? text : unpack(text);
  return json === undefined
    ? { bad: `${field}: neither JSON nor packed JSON` }
    : readJson(testsSchema, json, field);
}

/** The str that was pickled, compressed and written as base64; undefined if the text is not one. */
function unpack(packed: string): string | undefined {
  try {
    const pickle = inflateSync(Buffer.from(packed, "base64"), { maxOutputLength: MAX_TEST_BYTES });
    return unpickleString(pickle);
  } catch (error) {
    // Errors of zlib (by code), of UTF-8 (TypeError) and of the pickle are faults of the row; any other error is a
    // fault of this program.
    const known = HoneError.is(error) || error instanceof TypeError || "code" in (error as object);
    if (known) return undefined;
    throw error;
  }
}
