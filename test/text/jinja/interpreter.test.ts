// Renders templates that Python's Jinja2 rendered (test/fixtures/jinja/cases.json says how): the text or the error's
// words must be equal. Then tests operators, tests, blocks and limits one by one. Deliberate faults (mutants) that
// these tests detect: all turns share one scope; == is JavaScript's; % has the sign of its left operand; bools are
// not numbers.
import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { HoneError } from "../../../lib/errors.ts";
import { ChatTemplate } from "../../../lib/text/chat-template.ts";
import { readJson } from "../../../lib/text/jinja/values.ts";
import { render } from "./rendering.ts";

interface Case {
  readonly source: string;
  readonly rendered?: string;
  readonly error?: string;
  /** The line of a template's syntax error. */
  readonly syntax?: number;
}

const file = new URL("../../fixtures/jinja/cases.json", import.meta.url);
const { cases, variables } = JSON.parse(readFileSync(file, "utf8")) as { cases: Case[]; variables: string };
const known = readJson(variables) as Record<string, unknown>;
const clock = new Date(Date.UTC(2026, 2, 5, 7, 8, 9, 123));

/** Errors whose words differ from Jinja's, which reveal Python's internals or say less. */
const OTHER_WORDS: Readonly<Record<string, RegExp>> = {
  "tuple index out of range": /Replacement index 1 out of range/,
  "unsupported format character 'y' (0x79) at index 1": /unsupported format character 'y'/,
  "float modulo": /float modulo by zero/,
  "the inline if-expression on line 1 evaluated to false and no else section was defined.":
    /inline if-expression/,
  "cannot assign attribute on non-namespace object": /cannot assign attribute on non-namespace object/,
  "'break' outside loop (<template>, line 11)": /break outside of a loop/,
  "no loader for this environment specified": /tag "include"/,
};

function outcome(source: string): string | HoneError {
  try {
    return new ChatTemplate(source, "t").render(known["messages"] as never, { variables: known, clock });
  } catch (error) {
    if (HoneError.is(error)) return error;
    throw error;
  }
}

test.each(cases)("$source", ({ source, rendered, error, syntax }) => {
  const found = outcome(source);
  if (rendered !== undefined) return expect(found).toBe(rendered);
  expect(found).toBeInstanceOf(HoneError);
  const { code, message, details } = found as HoneError;
  if (syntax !== undefined) {
    expect([code, details["line"]]).toEqual(["HONE_ERR_UNSUPPORTED", syntax]);
    return;
  }
  const other = OTHER_WORDS[error!];
  if (other !== undefined) expect(message).toMatch(other);
  else expect(message).toContain(error);
});

test.each([
  ["{{ -7 % 3 }} {{ 7 % -3 }} {{ -7 // 2 }} {{ 7.5 % 2 }}", "2 -2 -4 1.5"],
  ["{{ 'ab' * 3 }} {{ 2 * 'x' }} {{ [1] * 2 }} {{ 'x' * -1 }}", "ababab xx [1, 1] "],
  ["{{ list + [4] }} {{ 'a' + 'b' }} {{ t + 1 }}", "[3, 1, 2, 4] ab 2"],
  ["{{ 1 ~ 'a' ~ z ~ t ~ missing ~ f }}", "1aNoneTrue2.0"],
  [
    "{{ 1 == 1.0 }} {{ '1' == 1 }} {{ t == 1 }} {{ z == false }} {{ [1, 2] == [1, 2] }} {{ {'a': [1]} == {'a': [1]} }} {{ (1, 2) == [1, 2] }} {{ t - 1 }} {{ t < 2 }}",
    "True False True False True True False 0 True",
  ],
  ["{{ 1 != 1.0 }} {{ missing == z }}", "False False"],
  [
    "{{ 2 in list }} {{ [1] in [[1]] }} {{ 5 not in list }} {{ 'b' in map }} {{ 'x' in 'xyz' }} {{ t in [1] }}",
    "True True True True True True",
  ],
  ["{{ 'a' < 'b' }} {{ 'B' < 'a' }} {{ 'a' >= 'a' }} {{ '\ud83d\ude00' > '\uffff' }}", "True True True True"],
  [
    "{{ 'a' is iterable }} {{ list is iterable }} {{ map is iterable }} {{ 1 is iterable }} {{ (1,2) is iterable }}",
    "True True True False True",
  ],
  ["{{ 1 is number }} {{ t is number }} {{ 'a' is not number }} {{ f is number }}", "True True True True"],
  [
    "{{ map is mapping }} {{ list is mapping }} {{ 'a' is string }} {{ z is none }} {{ missing is defined }} {{ list is not none }}",
    "True False True True False True",
  ],
  ["{% for i in list %}{% if i == 3 %}{% set x = 'seen' %}{% endif %}{{ x }}.{% endfor %}", "seen..."],
  ["{% set x = 1 %}{% for i in list %}{% set x = i %}{% endfor %}{{ x }}", "1"],
  ["{% set ns = namespace(x=0) %}{% for i in list %}{% set ns.x = ns.x + i %}{% endfor %}{{ ns.x }}", "6"],
  ["{% macro m(a, b='z') %}[{{ a }}{{ b }}]{% endmacro %}{{ m(1) }}{{ m('x', b=none) }}", "[1z][xNone]"],
  ["{% for k, v in map.items() %}{{ k }}={{ v }};{% endfor %}", "b=1;a={'x': 'y'};"],
  [
    "{% for i in range(3) %}{{ loop.index }}{{ loop.last }},{% else %}none{% endfor %}{% for i in [] %}x{% else %}none{% endfor %}",
    "1False,2False,3True,none",
  ],
  ["{% for i in list if i > 1 %}{{ loop.index0 }}:{{ i }} {% endfor %}", "0:3 1:2 "],
  ["  {% if t %}\n  yes\n  {% endif %}\nend", "  yes\nend"],
  ["{% set c %}{{ n }}!{% endset %}{{ c }}", "7!"],
  ["{%- for i in list -%}\n {{ i }}\n{%- endfor %}", "312"],
])("%s", (source, rendered) => {
  expect(render(source)).toBe(rendered);
});

test.each([
  ["{{ [1] + 'a' }}", 'can only concatenate list (not "str") to list'],
  ["{{ 'a' + 1 }}", 'can only concatenate str (not "int") to str'],
  ["{{ 'a' + missing }}", "'missing' is undefined"],
  ["{{ 5 % 0 }}", "modulo by zero"],
  ["{{ 'ab' * 9999999 }}", "a repetition of 19999998 is too long"],
  ["{{ [0] * 99999999 }}", "a repetition of 99999999 is too long"],
  ["{{ range(0, 10, 0) | list }}", "must not be zero"],
  ["{{ missing.x }}", "'missing' is undefined"],
  ["{{ missing() }}", "'missing' is undefined"],
  ["{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}", "more than 200 deep"],
  ["{% for i in range(9999) %}{% for j in range(999) %}{% endfor %}{% endfor %}", "did not end within"],
  ["{% set x = 'ab' * 8000000 %}{% for i in range(99) %}{{ x }}{% endfor %}", "is longer than"],
])("%s fails", (source, message) => {
  expect(() => render(source)).toThrow(message);
});
