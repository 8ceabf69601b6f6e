// Filters with the behaviour of Python's Jinja. Deliberate faults (mutants) that these tests detect: replace ignores
// its count; unique compares by identity; default ignores its boolean argument; join has no separator.
import { expect, test } from "vitest";
import { render } from "./rendering.ts";

test.each([
  [
    "{{ text | trim }}|{{ 'xxaxx' | trim('x') }}|{{ list | trim }}",
    "\u00dcn\u00ef \ud83d\ude00 tEXT|a|[3, 1, 2]",
  ],
  [
    "{{ text | upper }} {{ n | upper }} {{ 'hELLO wORLD' | capitalize }} {{ t | lower }}",
    " \u00dcN\u00cf \ud83d\ude00 TEXT\t 7 Hello world true",
  ],
  [
    "{{ s | replace('-', '+') }} {{ s | replace('-', '', 1) }} {{ list | replace(',', ';') }} {{ 121 | replace('1', '0') }}",
    "a+b+c ab-c [3; 1; 2] 020",
  ],
  [
    "{{ mixed | join('/') }} {{ 'abc' | join('.') }} {{ list | join }}",
    "1/a/None/True/2.5/{'k': [1.0]} a.b.c 312",
  ],
  ["{{ text | length }} {{ list | length }} {{ map | length }} {{ map | count }}", "12 3 2 2"],
  [
    "{{ missing | default('d') }} {{ z | default('d') }} {{ z | default('d', true) }} {{ '' | d('x', boolean=true) }} {{ e | default(1, true) }}",
    "d None d x 1",
  ],
  ["{{ 'ab' | list }} {{ map | list }} {{ map.keys() | list }}", "['a', 'b'] ['b', 'a'] ['b', 'a']"],
  [
    "{{ list | first }} {{ list | last }} {{ e | first is defined }} {{ 'xyz' | first }}{{ 'xyz' | last }}",
    "3 2 False xz",
  ],
  ["{{ ['b', 'B', 'a', 1, 1.0] | unique | list }}", "['b', 'a', 1]"],
  ["{{ n | string + '!' }} {{ mixed | string }}", "7! [1, 'a', None, True, 2.5, {'k': [1.0]}]"],
  [
    "{{ 'a b' | title }} {{ -3 | abs }} {{ '42' | int + 1 }} {{ [{'x': 5}] | map(attribute='x') | list }}",
    "A B 3 43 [5]",
  ],
  [
    "{{ [3, 1, 2] | sort }} {{ ['b', 'A'] | sort | join }} {{ list | reverse | list }}",
    "[1, 2, 3] Ab [2, 1, 3]",
  ],
  ["{{ mixed | tojson }}", '[1, "a", null, true, 2.5, {"k": [1.0]}]'],
  ["{{ map | tojson(indent=2) }}", '{\n  "b": 1,\n  "a": {\n    "x": "y"\n  }\n}'],
  [
    "{{ {'b': 1, 'a': '\u00e9\"<&>'} | tojson(sort_keys=true, ensure_ascii=true) }}",
    '{"a": "\\u00e9\\"<&>", "b": 1}',
  ],
  ["{{ [1, {'a': 2}] | tojson(separators=(',', ':')) }}", '[1,{"a":2}]'],
  [
    "{{ e | tojson(indent=4) }} {{ {} | tojson }} {{ f | tojson }} {{ z | tojson }} {{ 'a\tb' | tojson }}",
    '[] {} 2.0 null "a\\tb"',
  ],
])("%s", (source, rendered) => {
  expect(render(source)).toBe(rendered);
});

test.each([
  ["{{ 'a' | replace('a') }}", "replace() is missing an argument"],
  ["{{ range | tojson }}", "not JSON serializable"],
  ["{{ 1 | nothing }}", "nothing"],
])("%s fails", (source, message) => {
  expect(() => render(source)).toThrow(message);
});
