import { z } from "zod";
import { jsonAt, type RawRow } from "../../../data/raw-row.ts";
import {
  type DatasetOptions,
  fill,
  isBad,
  type RowOutcome,
  type RowReader,
  readFields,
  readJson,
} from "../../../data/row-reader.ts";
import { askedIn } from "../../columns.ts";
import { makesInstances } from "./mbpp.ts";

const text = z.string().trim().min(1);
const name = z.string().regex(/^[A-Za-z_]\w*$/, "no name of a function");
/** AceCode's list of assertions. */
const listSchema = z.array(text).min(1);
/** Rows of KodCode, whose test is a module for pytest. */
const moduleSchema = z.object({
  test: text,
  test_info: z.array(z.looseObject({ function_name: name })).min(1),
});
/** Rows of LeetCode problems in Skywork-OR1; the entry point has the form "Solution().name". */
const checkSchema = z.object({
  entry_point: z.string().regex(/^\w+(?:\(\))?(?:\.\w+)?$/, "neither a function nor a method"),
  import_prefix: z.string().nullish(),
  test_code: z.string().includes("def check("),
});

interface Asserted {
  readonly entryPoint: string;
  readonly prelude: string;
  readonly tests: readonly string[];
}

const TEMPLATE = "{task}\n\nWrite it in Python, with its imports, in one ```python block.";

/**
 * Programming problems whose tests are assertions, for training: a list of them (AceCode: `test_cases`), a pytest
 * module (KodCode: `test`, `test_info`), or a function check(candidate) (Skywork-OR1's LeetCode rows, in
 * `reward_model.ground_truth`). Leaves out rows whose tests pass class instances to the function, or need pytest.
 * Source: data set cards TIGER-Lab/AceCode-87K, KodCode/KodCode-V1, Skywork/Skywork-OR1-RL-Data.
 */
export const codeAssertions: RowReader<DatasetOptions> = {
  domain: "code",
  verifier: "assertions",
  options: {},
  open({ template = TEMPLATE }) {
    return (raw) => {
      if (typeof raw.value !== "object" || raw.value === null) return { bad: "row: no object" };
      const row = raw.value as Readonly<Record<string, unknown>>;
      const found = assertedIn(row, raw);
      if (!("tests" in found)) return found;
      const asked = askedIn(row);
      if (asked === undefined) return { bad: "question: missing" };
      if (isBad(asked)) return asked;
      if (makesInstances(found.tests) || found.tests.some((test) => NODES.test(test)))
        return { leftOut: "tests that make instances of classes" };
      const { task } = asked;
      const isNamed = new RegExp(`\\b${found.entryPoint}\\b`).test(task) || found.entryPoint === METHOD;
      const whole = isNamed ? task : `${task}\n\nThe function is called \`${found.entryPoint}\`.`;
      return {
        content: task,
        question: fill(template, whole),
        family: "code-assertions",
        level: 0,
        reference: found,
        askedFrom: asked.column,
        gold: () => goldOf(row),
      };
    };
  },
};

/** LeetCode's helpers that make instances. */
const NODES = /\b(?:list_node|tree_node|linked_list)\(/;

function assertedIn(row: Readonly<Record<string, unknown>>, raw: RawRow): Asserted | RowOutcome {
  if (row["test_cases"] !== undefined) return listedIn(row["test_cases"]);
  if (row["test"] !== undefined) return moduleIn(row);
  const json = jsonAt(raw, ["reward_model", "ground_truth"]);
  if (json === undefined) return { bad: "test_cases: missing, as are test and reward_model.ground_truth" };
  return checkIn(json);
}

function listedIn(value: unknown): Asserted | RowOutcome {
  const tests =
    typeof value === "string"
      ? readJson(listSchema, value, "test_cases")
      : readFields(listSchema, value, "test_cases");
  if (isBad(tests)) return tests;
  const names = new Set(
    tests.map((test) => /\bassert\b\W*(?:not\s+)?\(*\s*([A-Za-z_]\w*)\s*\(/.exec(test)?.[1]),
  );
  const called = [...names].filter((one) => one !== undefined && !BUILT_IN.has(one));
  if (called.length !== 1) return { bad: "test_cases: assertions that call no function, or several" };
  return { entryPoint: called[0]!, prelude: "", tests };
}

/** Built-in names that an assertion may call around the function under test. */
const BUILT_IN: ReadonlySet<string | undefined> = new Set(
  "abs all any bool dict float int isinstance len list max min round set sorted str sum tuple".split(" "),
);

function moduleIn(row: unknown): Asserted | RowOutcome {
  const read = readFields(moduleSchema, row);
  if (isBad(read)) return read;
  const { test, test_info: functions } = read;
  if (functions.length > 1) return { leftOut: "tests of several functions" };
  if (/\bpytest\b/.test(test.replace(/^import pytest\s*$/m, "")))
    return { leftOut: "tests that need pytest" };
  const body = test.replace(/^(?:from solution import .*|import pytest\s*)$/gm, "").trim();
  const calls = [...body.matchAll(/^def (test_\w+)\(\s*\)/gm)].map(([, one]) => one!);
  if (calls.length === 0) return { bad: "test: no function test_...()" };
  // assertions are run separately, so that the state of one does not affect the next
  const tests = calls.map((one) => `${body}\n\n${one}()\n`);
  return { entryPoint: functions[0]!.function_name, prelude: "", tests };
}

/** Name of the function that tests call if the entry point is an expression such as `Solution().solve`. */
const METHOD = "hone_method";

function checkIn(json: string): Asserted | RowOutcome {
  const read = readJson(checkSchema, json, "reward_model.ground_truth");
  if (isBad(read)) return read;
  const { entry_point: entry, import_prefix: imports, test_code: test } = read;
  const isPlain = /^\w+$/.test(entry);
  const method = isPlain ? "" : `\ndef ${METHOD}(*args, **kwargs):\n    return ${entry}(*args, **kwargs)\n`;
  const entryPoint = isPlain ? entry : METHOD;
  return {
    entryPoint,
    prelude: `${imports ?? ""}\n${method}`.trim(),
    tests: [`${test}\ncheck(candidate)\n`],
  };
}

/** KodCode's solution. */
const goldOf = ({ test, solution }: Readonly<Record<string, unknown>>): readonly string[] =>
  test !== undefined && typeof solution === "string" ? [`\`\`\`python\n${solution}\n\`\`\``] : [];
