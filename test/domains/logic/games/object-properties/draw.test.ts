import { expect, test } from "vitest";
import { objectProperties } from "../../../../../lib/domains/logic/games/object-properties/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

type Item = Record<string, string>;

const ITEM = /a (tiny|small|large|huge) (\w+) (\w+) of (\w+)/g;
const read = (text: string): Item[] =>
  [...text.matchAll(ITEM)].map(([, size, color, thing, material]) => ({
    size: size!,
    color: color!,
    thing: thing!,
    material: material!,
  }));

/** The collection after one line of the story. */
function after(items: Item[], line: string): Item[] {
  if (line.startsWith("I am given")) return [...items, ...read(line)];
  const [, property, value, changed, to] = /item whose (\w+) is (\w+)(?:, the (\w+) becomes (\w+))?\.$/.exec(
    line,
  ) as unknown as string[];
  if (line.startsWith("I lose")) return items.filter((item) => item[property!] !== value);
  return items.map((item) => (item[property!] === value ? { ...item, [changed!]: to! } : item));
}

test.each(LEVELS)("at level %i the stated number is what the story leaves", (level) => {
  const answers = new Set<unknown>();
  for (const { question, answer, effort } of draws(objectProperties, level)) {
    const [start, story, asked] = question.split("\n\n") as [string, string, string];
    const lines = story.split("\n");
    const items = lines.reduce(after, read(start));
    const [, one, a, other, b] = /whose (\w+) is (\w+) or whose (\w+) is (\w+)/.exec(asked)!;
    const count = items.filter((item) => item[one!] === a || item[other!] === b).length;
    expect([question, answer]).toEqual([question, `${count}`]);
    expect(effort).toBe(read(start).length * lines.length);
    answers.add(answer);
  }
  expect(answers.size).toBeGreaterThan(3);
});
