// Each statement knows its line; the program is the one the parser makes of the source alone.
// Mutants tried: strings not passed over in search of a tag's end; marks left in the program.
import { describe, expect, test } from "vitest";
import { parse, type Statement, tokenize } from "../../lib/text/jinja.ts";
import { bodiesOf, parseLocated, TemplateSyntaxError } from "../../lib/text/template-lines.ts";

/** "For:2" and so on, in the order of the source, text left out. */
function located(source: string): string[] {
  const { program, lines } = parseLocated(source);
  const walk = (body: readonly Statement[]): string[] =>
    body.flatMap((statement) => {
      const line = lines.get(statement);
      const own = line === undefined ? [] : [`${statement.type}:${line}`];
      return [...own, ...bodiesOf(statement).flatMap(walk)];
    });
  return walk(program.body);
}

const SOURCES = [
  "{{ a }}\n{% if a %}\n{{ b }}{% elif c %}\n\n{{ d }}{% else %}{{ e }}{% endif %}",
  "{# {{ no }}\n #}\n{% for x in y %}\n{{ '}}' }}{{ {'a': {'b': \"%}\"}} }}\n{% else %}{{ z }}{% endfor %}",
  "{%- set a = 1 -%}\n{% set b %}{{ a }}{% endset %}\n{% macro m(x) %}\n{{ x }}{% endmacro %}",
  "{{ '}} {{' }}\n{{ b }}",
  "{% generation %}\n{{ a }}{%- endgeneration -%}\n{{ b }}",
];

test("lines of statements and outputs", () => {
  expect(SOURCES.map(located)).toEqual([
    ["Identifier:1", "If:2", "Identifier:3", "If:3", "Identifier:5", "Identifier:5"],
    ["For:3", "StringLiteral:4", "ObjectLiteral:4", "Identifier:5"],
    ["Set:1", "Set:2", "Identifier:2", "Macro:3", "Identifier:4"],
    ["StringLiteral:1", "Identifier:2"],
    ["Identifier:2", "Identifier:3"],
  ]);
});

test("nothing of the search for lines stays in the program", () => {
  for (const source of SOURCES) {
    const plain = parse(tokenize(source, { lstrip_blocks: true, trim_blocks: true }));
    expect(parseLocated(source).program).toEqual(plain);
  }
});

describe("what cannot be read has a line", () => {
  test.each([
    ["\n\n{{ 'a", 3],
    ["{{ a }}\n{{ b c }}", 2],
    ["{% if a %}\n{% endfor %}", 2],
    ["{% if a %}\n", 1],
    ["x\n{% block b %}", 2],
  ])("%j", (source, line) => {
    let error: unknown;
    try {
      parseLocated(source);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(TemplateSyntaxError);
    expect((error as TemplateSyntaxError).line).toBe(line);
  });
});
