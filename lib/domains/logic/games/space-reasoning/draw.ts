import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { COLORS, THINGS } from "../../drawing/vocabulary.ts";

const DIRECTIONS: Readonly<Record<string, readonly [x: number, y: number]>> = {
  right: [1, 0],
  left: [-1, 0],
  up: [0, 1],
  down: [0, -1],
};

interface Sight {
  readonly x: number;
  readonly y: number;
  readonly thing: string;
}

const steps = (count: number) => `${count} step${count === 1 ? "" : "s"}`;

/** The steps from one place to another in words; undefined if the two places are equal. */
function way(x: number, y: number): string | undefined {
  const parts = [
    x === 0 ? [] : [`${steps(Math.abs(x))} ${x > 0 ? "right" : "left"}`],
    y === 0 ? [] : [`${steps(Math.abs(y))} ${y > 0 ? "up" : "down"}`],
  ].flat();
  return parts.length === 0 ? undefined : parts.join(" and ");
}

/** A walk with a new object at every stop; visits no place twice. */
function walk(random: CounterRandom, stops: number): { sights: Sight[]; told: string[] } {
  const names = random.sample(
    COLORS.flatMap((color) => THINGS.map((thing) => `${color} ${thing}`)),
    stops + 1,
  );
  const sights: Sight[] = [{ x: 0, y: 0, thing: names[0]! }];
  const told = [`You start at the ${names[0]}.`];
  while (sights.length <= stops) {
    const direction = random.choice(Object.keys(DIRECTIONS));
    const count = random.int(1, 4);
    const [dx, dy] = DIRECTIONS[direction]!;
    const here = sights.at(-1)!;
    const next = { x: here.x + count * dx, y: here.y + count * dy, thing: names[sights.length]! };
    if (sights.some(({ x, y }) => x === next.x && y === next.y)) continue;
    sights.push(next);
    told.push(`You go ${steps(count)} ${direction} and see a ${next.thing}.`);
  }
  return { sights, told };
}

/** Asks for the object at a grid position given relative to another one; the coordinates determine it. */
export const spaceReasoning: PuzzleGenerator = {
  task: "space_reasoning",
  measure: "moves",

  draw(random, level) {
    const stops = atLevel([3, 6, 10, 16], level);
    const { sights, told } = walk(random, stops);
    const [from, to] = random.sample(sights, 2) as [Sight, Sight];
    const path = way(to.x - from.x, to.y - from.y)!;
    return {
      question: `You walk on a grid; at every place stands one object.\n\n${told.join(" ")}\n\nLater you are at the ${from.thing} and go ${path}. Which object do you see there? Put its name, colour included, into \\boxed{}.`,
      solution: `\\boxed{${to.thing}}`,
      answer: to.thing,
      metadata: { places: sights.length },
      effort: stops,
    };
  },
};
