import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { COLORS, PEOPLE, THINGS } from "../../drawing/vocabulary.ts";

/** The item of each person, in the order of the people. */
type Owners = Map<string, string>;

/** Swaps the items of two people and phrases it in one of several ways. */
function swap(random: CounterRandom, owners: Owners): string {
  const [a, b] = random.sample([...owners.keys()], 2) as [string, string];
  const [ofA, ofB] = [owners.get(a)!, owners.get(b)!];
  owners.set(a, ofB).set(b, ofA);
  return random.choice([
    `${a} and ${b} swap what they have.`,
    `${a} gives the ${ofA} to ${b}, and ${b} gives the ${ofB} to ${a}.`,
    `Whoever has the ${ofA} swaps with whoever has the ${ofB}.`,
    `${a} swaps with whoever has the ${ofB}.`,
  ]);
}

/** People swap items; sentences about mere wishes change nothing. The swaps determine the final owners. */
export const goodsExchange: PuzzleGenerator = {
  task: "goods_exchange",
  measure: "swaps",

  draw(random, level) {
    const people = random.sample(PEOPLE, atLevel([3, 4, 5, 7], level));
    const colors = random.sample(COLORS, people.length);
    const things = random.sample(THINGS, people.length);
    const owners: Owners = new Map(people.map((person, i) => [person, `${colors[i]} ${things[i]}`]));
    const before = Object.fromEntries(owners);
    const start = [...owners].map(([person, item]) => `${person} has the ${item}.`);
    const swaps = atLevel([2, 4, 7, 11], level);
    const story = Array.from({ length: swaps }, () => {
      const told = swap(random, owners);
      const wish = `${random.choice(people)} would like to have the ${random.choice([...owners.values()])}.`;
      return random.next() < 0.2 ? `${told} ${wish}` : told;
    });
    const after = `(${[...owners].map(([person, item]) => `('${person}','${item}')`).join(",")})`;
    return {
      question: `${start.join(" ")}\n\n${story.join("\n")}\n\nWho has what in the end? Put the answer into a Python code block as a tuple:\n\`\`\`python\n(('Anna','red book'),('Tom','blue hat'))\n\`\`\``,
      solution: `\`\`\`python\n${after}\n\`\`\``,
      answer: after,
      metadata: { names: people, owns_before: before, operations: story, owns_after: after },
      effort: swaps,
    };
  },
};
