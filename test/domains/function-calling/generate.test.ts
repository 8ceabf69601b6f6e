import { expect, test } from "vitest";
import { toolCall } from "../../../lib/domains/function-calling/generate.ts";
import { PARAMETER_VALUES, PARAMETERS, TOOLS } from "../../../lib/domains/lexicon.ts";
import { CounterRandom } from "../../../lib/random.ts";

// Deliberate faults (mutants) that these tests detect: arguments in the query's order, quoted numbers, level 3 uses
// level 0's range of values.

/** Parses the tools and the query, and writes the call that they ask for. */
function callFor(question: string): { call: string; tools: number; parameters: number; largest: number } {
  const [, offered, queried] = /^Tools: (.*) Query: (.*)$/.exec(question)!;
  const schemas = new Map(
    offered!.split(" ").map((tool) => {
      const [, name, parameters] = /^(\w+)\(([\w,]+)\)$/.exec(tool)!;
      return [name!, parameters!.split(",")] as const;
    }),
  );
  const [tool, ...pairs] = queried!.split(" ");
  const given = new Map<string, string>();
  for (let i = 0; i < pairs.length; i += 2) {
    const [left, right] = [pairs[i]!, pairs[i + 1]!];
    const nameFirst = PARAMETERS.includes(left);
    given.set(nameFirst ? left : right, nameFirst ? right : left);
  }
  const names = schemas.get(tool!)!;
  expect([...given.keys()].sort()).toEqual([...names].sort());
  const written = names.map((name) => {
    const value = given.get(name)!;
    if (!PARAMETER_VALUES[name]) return `${name}=${Number(value)}`;
    expect(PARAMETER_VALUES[name]).toContain(value);
    return `${name}='${value}'`;
  });
  const numbers = [...given.values()].filter((value) => /^\d+$/.test(value)).map(Number);
  return {
    call: `${tool}(${written.join(", ")})`,
    tools: schemas.size,
    parameters: names.length,
    largest: Math.max(0, ...numbers),
  };
}

test.each([0, 1, 2, 3])("a query at level %i asks for exactly the call given", (level) => {
  let largest = 0;
  for (let i = 0; i < 400; i++) {
    const { question, answer, steps } = toolCall.draw(new CounterRandom(10, i, level), level);
    const asked = callFor(question);
    expect(answer).toBe(asked.call);
    expect(asked.tools).toBe([1, 2, 2, 3][level]);
    expect(asked.parameters).toBe([1, 1, 2, 2][level]);
    expect(TOOLS).toContain(answer.split("(")[0]);
    expect(steps.startsWith(`tool ${answer.split("(")[0]}: `)).toBe(true);
    largest = Math.max(largest, asked.largest);
  }
  expect(largest > 9).toBe(level >= 2);
});

test("values come before names in the hardest level only", () => {
  const valueFirst = [0, 1, 2, 3].map((level) => {
    let count = 0;
    for (let i = 0; i < 400; i++) {
      const query = toolCall
        .draw(new CounterRandom(11, i, level), level)
        .question.split("Query: ")[1]!
        .split(" ");
      if (!PARAMETERS.includes(query[1]!)) count += 1;
    }
    return count / 400;
  });
  expect(valueFirst.slice(0, 3)).toEqual([0, 0, 0]);
  expect(Math.abs(valueFirst[3]! - 0.3)).toBeLessThan(0.092); // 4 standard deviations
});
