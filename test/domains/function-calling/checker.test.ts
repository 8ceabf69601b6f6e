// Facts of BFCL's ast_checker. Deliberate faults (mutants) that these tests detect: one call is used twice, extra
// calls are accepted, names keep dots where they have underscores, a required parameter may be missing, an optional
// one may be missing though "" is not allowed.
import { describe, expect, test } from "vitest";
import type { Call } from "../../../lib/domains/call.ts";
import { type CheckRules, check, type Naming } from "../../../lib/domains/function-calling/checker.ts";
import { readEntry, Unjudgeable } from "../../../lib/domains/function-calling/entry.ts";
import { REFERENCE } from "../../../lib/domains/function-calling/reference.ts";
import { STRICT } from "../../../lib/domains/function-calling/strict.ts";
import { readCalls } from "../../../lib/python/call.ts";

const FUNCTION = (name: string, required: readonly string[] | undefined = ["a"]) => ({
  name,
  parameters: {
    type: "dict",
    properties: { a: { type: "integer" }, b: { type: "string" }, c: { type: "integer" } },
    ...(required && { required }),
  },
});
const entry = (category: string, ground_truth: unknown, required?: readonly string[] | undefined) =>
  readEntry({
    id: "x",
    category,
    function: [FUNCTION("m.f", required), FUNCTION("g", required)],
    ground_truth,
  });
const F = (a: number) => ({ "m.f": { a: [a], b: ["", "x"] } });

const calls = (text: string): Call[] =>
  readCalls(text)!.map(({ name, keywords, positional }) => ({ name, arguments: keywords, positional }));

function result(
  category: string,
  gold: unknown,
  text: string,
  naming: Naming = "dotted",
  rules: CheckRules = REFERENCE,
) {
  return check(entry(category, gold), calls(text), naming, rules);
}

describe("one call", () => {
  test.each([
    ["m.f(a=1)", undefined],
    ["m.f(a=1, b='X')", undefined],
    ["g(a=1)", "wrong_func_name"],
    ["m_f(a=1)", "wrong_func_name"],
    ["m.f(b='x')", "missing_required"],
    ["m.f(a=1, z=2)", "unexpected_param"],
    ["m.f(a=1, c=2)", "unexpected_param"],
    ["m.f(a=1, constructor=2)", "unexpected_param"],
    ["m.f(a=1, **z)", "unexpected_param"],
    ["m.f(a=1), m.f(a=1)", "wrong_count"],
    ["[]", "wrong_count"],
  ])("%s", (text, fault) => {
    const expected = fault && `simple_function_checker:${fault}`;
    expect(result("simple_python", [F(1)], text)).toEqual({ fault: expected, matched: fault ? 0 : 1 });
  });

  test("a parameter may be left out only where the empty text is allowed", () => {
    const gold = [{ "m.f": { a: [1], b: ["x"] } }];
    expect(result("simple_python", gold, "m.f(a=1)").fault).toBe("simple_function_checker:missing_optional");
  });

  test("a wrong value has the name of its fault", () => {
    expect(result("simple_python", [F(1)], "m.f(a=2)").fault).toBe("value_error:others");
    expect(result("simple_python", [F(1)], "m.f(a=1, b='y')").fault).toBe("value_error:string");
  });

  test("underscored names stand for dotted ones", () => {
    expect(result("simple_python", [F(1)], "m_f(a=1)", "underscored").fault).toBeUndefined();
    expect(result("simple_python", [F(1)], "m.f(a=1)", "underscored").fault).toMatch("wrong_func_name");
  });

  test("arguments without a name are dropped by the reference and refused by strict", () => {
    expect(result("simple_python", [F(1)], "m.f(9, a=1)").fault).toBeUndefined();
    expect(result("simple_python", [F(1)], "m.f(9, a=1)", "dotted", STRICT).fault).toMatch(
      "positional_argument",
    );
  });

  test("the first function is asked for, whatever the gold call's name", () => {
    expect(result("simple_python", [{ other: { a: [1] } }], "m.f(a=1)").fault).toBeUndefined();
  });
});

describe("one of several functions", () => {
  test.each([
    ["g(a=1)", undefined],
    ["m.f(a=1)", "simple_function_checker:wrong_func_name"],
    ["g(a=1), g(a=1)", "multiple_function_checker:wrong_count"],
  ])("%s", (text, fault) => {
    expect(result("live_multiple", [{ g: { a: [1] } }], text).fault).toBe(fault);
  });

  test("a gold call of no function there is cannot be judged", () => {
    expect(() => result("multiple", [{ h: { a: [1] } }], "h(a=1)")).toThrow(Unjudgeable);
  });
});

describe("several calls, in any order", () => {
  const GOLD = [F(1), F(2), { g: { a: [1] } }];
  const NO_MATCH = "parallel_function_checker_no_order:cannot_find_match";
  const COUNT = "parallel_function_checker_no_order:wrong_count";
  test.each([
    ["m.f(a=1), m.f(a=2), g(a=1)", undefined, 1],
    ["g(a=1), m.f(a=2), m.f(a=1)", undefined, 1],
    ["m.f(a=1), m.f(a=1), g(a=1)", NO_MATCH, 2 / 3],
    ["m.f(a=1), m.f(a=2)", COUNT, 2 / 3],
    ["m.f(a=1), m.f(a=2), g(a=1), g(a=1)", COUNT, 1],
    ["m.f(a=9), g(a=9), g(a=8)", NO_MATCH, 0],
    ["[]", COUNT, 0],
  ])("%s", (text, fault, matched) => {
    expect(result("parallel_multiple", GOLD, text)).toEqual({ fault, matched });
  });

  test("an expected call takes the first that fits, and there is no second thought", () => {
    const gold = [{ g: { a: [1, 2] } }, { g: { a: [1] } }];
    expect(result("parallel", gold, "g(a=1), g(a=2)")).toEqual({ fault: NO_MATCH, matched: 1 / 2 });
    expect(result("parallel", gold, "g(a=2), g(a=1)")).toEqual({ fault: undefined, matched: 1 });
  });

  test("two expected calls that are equal need two calls", () => {
    const gold = [{ g: { a: [1] } }, { g: { a: [1] } }];
    expect(result("parallel", gold, "g(a=1), g(a=1)")).toEqual({ fault: undefined, matched: 1 });
    expect(result("parallel", gold, "g(a=1), g(a=2)")).toEqual({ fault: NO_MATCH, matched: 1 / 2 });
  });

  test("one expected call has no part credit", () => {
    expect(result("live_parallel", [F(1)], "m.f(a=1), m.f(a=1)")).toEqual({ fault: COUNT, matched: 0 });
  });
});

test("a schema that names no required parameters breaks the reference alone", () => {
  const bare = readEntry({ ...ROW_WITHOUT_REQUIRED });
  const made = calls("f(a=1)");
  expect(() => check(bare, made, "dotted", REFERENCE)).toThrow(Unjudgeable);
  expect(check(bare, made, "dotted", STRICT)).toEqual({ fault: undefined, matched: 1 });
});

const ROW_WITHOUT_REQUIRED = {
  id: "x",
  category: "simple_python",
  function: [{ name: "f", parameters: { properties: { a: { type: "integer" } } } }],
  ground_truth: [{ f: { a: [1] } }],
};
