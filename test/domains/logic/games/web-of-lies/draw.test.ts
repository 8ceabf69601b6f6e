import { expect, test } from "vitest";
import { webOfLies } from "../../../../../lib/domains/logic/games/web-of-lies/draw.ts";
import { draws, LEVELS } from "../../drawing/draws.ts";

type World = ReadonlyMap<string, boolean>;

/** True if the line's statement is possible in a world. */
function allows(line: string, world: World): boolean {
  const fact = /^(\w+) always (tells the truth|lies)\.$/.exec(line);
  if (fact) return world.get(fact[1]!) === (fact[2] === "tells the truth");
  const [, speaker, claim] = /^(\w+) says: (.+)\.$/.exec(line)!;
  const honest = [...claim!.matchAll(/[A-Z]\w+/g)].map(([name]) => world.get(name)!);
  const said = claim!.startsWith("at least one of")
    ? !honest[0] || !honest[1]
    : claim!.endsWith("of the same kind")
      ? honest[0] === honest[1]
      : honest[0] === claim!.endsWith("tells the truth");
  return said === world.get(speaker!);
}

test.each(LEVELS)("at level %i one world fits all that is said, and it gives the stated answer", (level) => {
  const answers = new Set<unknown>();
  for (const { question, answer, effort } of draws(webOfLies, level)) {
    const [intro, told, asked] = question.split("\n\n") as [string, string, string];
    const names = intro.match(/[A-Z]\w+/g)!.slice(1);
    const worlds = Array.from(
      { length: 2 ** names.length },
      (_, bits): World => new Map(names.map((name, i) => [name, Math.floor(bits / 2 ** i) % 2 === 1])),
    ).filter((world) => told.split("\n").every((line) => allows(line, world)));
    expect([question, worlds.length]).toEqual([question, 1]);
    const people = [...asked.matchAll(/Does (\w+) tell/g)].map(([, name]) => name!);
    expect(answer).toBe(people.map((name) => (worlds[0]!.get(name) ? "yes" : "no")).join(", "));
    expect(effort).toBe(names.length);
    answers.add(answer);
  }
  expect(answers.size).toBeGreaterThan(1);
});
