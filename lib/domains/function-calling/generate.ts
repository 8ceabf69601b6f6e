import { atLevel, type Draft, type Family } from "../../data/family.ts";
import type { CounterRandom } from "../../random.ts";
import { PARAMETER_VALUES, PARAMETERS, TOOLS } from "../lexicon.ts";

const NAME_FIRST_RATE = 0.7;

function drawValue(random: CounterRandom, parameter: string, level: number): string | number {
  const values = PARAMETER_VALUES[parameter];
  return values === undefined ? random.int(0, atLevel([9, 9, 59, 59], level)) : random.choice(values);
}

function draw(random: CounterRandom, level: number): Draft {
  const tools = random.sample(TOOLS, atLevel([1, 2, 2, 3], level));
  const parametersOf = new Map(
    tools.map((tool) => [tool, random.sample(PARAMETERS, atLevel([1, 1, 2, 2], level))]),
  );
  const tool = random.choice(tools);
  const parameters = parametersOf.get(tool)!;
  const values = new Map(parameters.map((name) => [name, drawValue(random, name, level)]));
  const query = random.shuffle(parameters).map((name) => {
    const nameFirst = level < 3 || random.next() < NAME_FIRST_RATE;
    return nameFirst ? `${name} ${values.get(name)}` : `${values.get(name)} ${name}`;
  });
  const written = parameters.map((name) => {
    const value = values.get(name)!;
    return `${name}=${typeof value === "number" ? value : `'${value}'`}`;
  });
  const offered = [...parametersOf].map(([name, names]) => `${name}(${names.join(",")})`);
  return {
    question: `Tools: ${offered.join(" ")} Query: ${tool} ${query.join(" ")}`,
    answer: `${tool}(${written.join(", ")})`,
    steps: `tool ${tool}: ${parameters.map((name) => `${name} ${values.get(name)}`).join(" ")}`,
    reference: { tool, arguments: Object.fromEntries(values) },
  };
}

/** A query to be turned into a call of one of 1 to 3 offered tools, with typed arguments in the tool's order. */
export const toolCall: Family = { name: "fc", domain: "function-calling", verifier: "tool-call", draw };
