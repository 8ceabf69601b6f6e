import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { PEOPLE } from "../../drawing/vocabulary.ts";

const KINDS: Readonly<Record<string, readonly string[]>> = {
  fruit: ["apples", "bananas", "cherries", "figs", "grapes", "lemons", "mangoes", "pears", "plums"],
  animals: ["cats", "cows", "dogs", "goats", "hens", "horses", "parrots", "rabbits", "sheep"],
  tools: ["chisels", "drills", "hammers", "pliers", "rakes", "saws", "screwdrivers", "shovels", "wrenches"],
  furniture: ["armchairs", "beds", "benches", "chairs", "desks", "shelves", "sofas", "stools", "tables"],
};

interface Holding {
  readonly owner: string;
  readonly kind: string;
  readonly count: number;
  readonly text: string;
}

function holding(random: CounterRandom, owner: string, kind: string, thing: string): Holding {
  const [has, gets, loses] = owner === "I" ? ["have", "get", "lose"] : ["has", "gets", "loses"];
  let count = random.int(2, 60);
  let text = `${owner} ${has} ${count} ${thing}`;
  if (random.next() < 0.3) {
    const [gained, lost] = [random.int(1, 30), random.int(1, count)];
    count += gained - lost;
    text += `, then ${gets} ${gained} more and ${loses} ${lost}`;
  }
  return { owner, kind, count, text: `${text}.` };
}

/** Problems that list the things of several people and ask how many things of some kinds one of them has. */
export const objectCounting: PuzzleGenerator = {
  task: "object_counting",
  measure: "sentences",

  draw(random, level) {
    const kinds = random.sample(Object.keys(KINDS), atLevel([2, 2, 3, 4], level));
    const owners = ["I", ...random.sample(PEOPLE, atLevel([1, 2, 4, 6], level))];
    const all = owners.flatMap((owner) =>
      kinds.flatMap((kind) => KINDS[kind]!.map((thing) => ({ owner, kind, thing }))),
    );
    const chosen = random.sample(all, atLevel([4, 9, 18, 32], level));
    const holdings = chosen.map(({ owner, kind, thing }) => holding(random, owner, kind, thing));
    const owner = random.choice(holdings).owner;
    const asked = random.sample(kinds, random.int(1, 2));
    const mine = holdings.filter((one) => one.owner === owner && asked.includes(one.kind));
    const total = mine.reduce((sum, { count }) => sum + count, 0);
    return {
      question: `${holdings.map(({ text }) => text).join(" ")}\n\nHow many pieces of ${asked.join(" and ")} together ${owner === "I" ? "do I" : `does ${owner}`} have in the end? Put the number into \\boxed{}.`,
      solution: `\\boxed{${total}}`,
      answer: `${total}`,
      metadata: { owner, kinds: asked },
      effort: holdings.length,
    };
  },
};
