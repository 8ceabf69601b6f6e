import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { COLORS, THINGS } from "../../drawing/vocabulary.ts";

const VALUES = {
  color: COLORS.slice(0, 6),
  material: ["glass", "gold", "paper", "silver", "stone", "wood"],
  size: ["tiny", "small", "large", "huge"],
} as const;

type Property = keyof typeof VALUES;
type Item = Readonly<Record<Property, string>> & { readonly thing: string };

const PROPERTIES = Object.keys(VALUES) as readonly Property[];

function drawItem(random: CounterRandom): Item {
  const [color, material, size] = PROPERTIES.map((property) => random.choice(VALUES[property]));
  return { color: color!, material: material!, size: size!, thing: random.choice(THINGS) };
}

const describe = ({ size, color, thing, material }: Item) => `a ${size} ${color} ${thing} of ${material}`;

/** Describes a change of a collection and applies it. Its condition is true for at least one item. */
function change(random: CounterRandom, items: readonly Item[]): { told: string; after: Item[] } {
  const kind = items.length < 2 ? 2 : random.int(0, 3);
  const property = random.choice(PROPERTIES);
  const value = items.length === 0 ? random.choice(VALUES[property]) : random.choice(items)[property];
  if (kind === 3) {
    const after = items.filter((item) => item[property] !== value);
    return { told: `I lose every item whose ${property} is ${value}.`, after };
  }
  if (kind === 2) {
    const more = [drawItem(random), drawItem(random)];
    return { told: `I am given ${more.map(describe).join(" and ")}.`, after: [...items, ...more] };
  }
  const changed = random.choice(PROPERTIES);
  const to = random.choice(VALUES[changed]);
  return {
    told: `Of every item whose ${property} is ${value}, the ${changed} becomes ${to}.`,
    after: items.map((item) => (item[property] === value ? { ...item, [changed]: to } : item)),
  };
}

/** Problems about a collection that changes several times; they ask how many items have a property at the end. */
export const objectProperties: PuzzleGenerator = {
  task: "object_properties",
  measure: "items at the start times changes",

  draw(random, level) {
    const start = Array.from({ length: atLevel([4, 6, 9, 14], level) }, () => drawItem(random));
    const changes = atLevel([1, 2, 4, 6], level);
    let items: readonly Item[] = start;
    const story = Array.from({ length: changes }, () => {
      const { told, after } = change(random, items);
      items = after;
      return told;
    });
    const [one, other] = random.sample(PROPERTIES, 2) as [Property, Property];
    const [a, b] = [random.choice(VALUES[one]), random.choice(VALUES[other])];
    const count = items.filter((item) => item[one] === a || item[other] === b).length;
    return {
      question: `I have ${start.map(describe).join(", ")}.\n\n${story.join("\n")}\n\nHow many items do I have in the end whose ${one} is ${a} or whose ${other} is ${b} (or both)? Put the number into \\boxed{}.`,
      solution: `\\boxed{${count}}`,
      answer: `${count}`,
      metadata: { items: start.length, changes },
      effort: start.length * changes,
    };
  },
};
