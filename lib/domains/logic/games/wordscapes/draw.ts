import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import { allDifferent, type Model, oneOf, span } from "../../drawing/finite-domain.ts";
import { linesOf, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { drawUntil, hasOneSolution } from "../../drawing/uniqueness.ts";

const WORDS =
  "able acid alarm amber angle apple arena arrow autumn bacon badge barn basil beach bench berry bird blade boat bread bridge brush butter cabin cable camel candle canoe carbon castle chain chair cherry circle cliff cloud coast cobalt corner cotton crane crown dairy dance delta desert diamond dinner dragon dream drum eagle earth east elbow engine fabric falcon farm feather fence field finger flame flute forest fossil frost garden ginger glass globe gold grape gravel green guitar hammer harbor hazel helmet honey horse island ivory jacket jungle kettle ladder lamp lantern leaf lemon letter lion magnet maple marble meadow melon metal mirror moon motor mountain needle nickel north novel oasis ocean olive onion orange orbit otter oxygen paint palm paper pearl pebble pencil pepper piano pillow pirate planet plum pocket pond prism quartz quilt rabbit radar raven ribbon river robin rocket rose saddle salad salt sand scarf shadow shell silver sister sketch snow spider spring statue stone storm sugar sunset table temple thunder tiger timber tower trail tulip tunnel turtle valley velvet violin walnut water whale wheat window winter wolf zebra".split(
    " ",
  );
const SIDE = 21;

/** A maximal run of at least two letter cells. */
export interface Slot {
  readonly across: boolean;
  /** Indices in the grid, in reading direction. */
  readonly cells: readonly number[];
}

/** The runs of a grid of X and 0, across before down. */
export function slotsOf(grid: readonly (readonly string[])[]): Slot[] {
  const flat = grid.flat();
  const lines = linesOf(grid.length, grid[0]!.length);
  const runs = (line: readonly number[]) => {
    const ends = [-1, ...range(line.length).filter((i) => flat[line[i]!] !== "X"), line.length];
    return range(ends.length - 1).map((i) => line.slice(ends[i]! + 1, ends[i + 1]));
  };
  const slots = (all: readonly (readonly number[])[], across: boolean) =>
    all
      .flatMap(runs)
      .filter((cells) => cells.length > 1)
      .map((cells) => ({ across, cells }));
  return [...slots(lines.rows, true), ...slots(lines.columns, false)];
}

/**
 * Assigns each slot the index of a word in the list of its direction: of the right length, each once, equal letters
 * at crossings.
 */
export function wordscapesModel(
  slots: readonly Slot[],
  across: readonly string[],
  down: readonly string[],
): Model {
  const listOf = (slot: Slot) => (slot.across ? across : down);
  const choices = slots.map((slot) =>
    range(listOf(slot).length).filter((i) => listOf(slot)[i]!.length === slot.cells.length),
  );
  const letter = (slot: Slot, word: number, cell: number) => listOf(slot)[word]![slot.cells.indexOf(cell)];
  const crossings = slots.flatMap((a, i) =>
    slots.flatMap((b, j) => {
      const cell = i < j ? a.cells.find((one) => b.cells.includes(one)) : undefined;
      if (cell === undefined) return [];
      const agree = choices[i]!.flatMap((v) =>
        choices[j]!.filter((w) => letter(a, v, cell) === letter(b, w, cell)).map((w) => [v, w]),
      );
      return [oneOf([i, j], agree)];
    }),
  );
  const inDirection = (wanted: boolean) => range(slots.length).filter((i) => slots[i]!.across === wanted);
  return {
    domains: slots.map((slot) => span(0, listOf(slot).length - 1)),
    constraints: [
      ...slots.map((_, i) =>
        oneOf(
          [i],
          choices[i]!.map((word) => [word]),
        ),
      ),
      allDifferent(inDirection(true)),
      allDifferent(inDirection(false)),
      ...crossings,
    ],
  };
}

interface Layout {
  /** The letters of SIDE x SIDE cells; "" is an empty cell. */
  readonly letters: string[];
  readonly across: string[];
  readonly down: string[];
}

/** Writes the word if it crosses existing letters and touches no others; false if it cannot. */
function place({ letters, across, down }: Layout, word: string, isAcross: boolean, start: number): boolean {
  const [step, side] = isAcross ? [1, SIDE] : [SIDE, 1];
  const at = (i: number) => letters[start + i * step] ?? "";
  const begin = isAcross ? start % SIDE : Math.floor(start / SIDE);
  if (begin < 1 || begin + word.length >= SIDE || at(-1) !== "" || at(word.length) !== "") return false;
  const places = range(word.length);
  const isOpen = (i: number) =>
    at(i) === "" && [side, -side].every((off) => (letters[start + i * step + off] ?? "") === "");
  if (!places.every((i) => at(i) === word[i] || isOpen(i)) || places.every((i) => at(i) === word[i]))
    return false;
  for (const i of places) letters[start + i * step] = word[i]!;
  (isAcross ? across : down).push(word);
  return true;
}

/** Places words in random order, each crossing an existing one; undefined if the list is too short. */
function layOut(random: CounterRandom, count: number): Layout | undefined {
  const layout: Layout = { letters: range(SIDE * SIDE).map(() => ""), across: [], down: [] };
  const middle = SIDE * (SIDE >> 1) + 7;
  for (const word of random.shuffle(WORDS)) {
    if (layout.across.length === 0) place(layout, word, true, middle);
    else {
      const meets = random
        .shuffle(range(SIDE * SIDE))
        .filter((cell) => layout.letters[cell] !== "" && word.includes(layout.letters[cell]!));
      meets.some((cell) => {
        const isAcross = layout.letters[cell - 1] === "" && layout.letters[cell + 1] === "";
        const index = word.indexOf(layout.letters[cell]!);
        return place(layout, word, isAcross, cell - index * (isAcross ? 1 : SIDE));
      });
    }
    if (layout.across.length + layout.down.length === count) return layout;
  }
  return undefined;
}

/** The letters without the empty rows and columns around them. */
function cropped(letters: readonly string[]): string[][] {
  const rows = rowsOf(letters, SIDE);
  const used = range(SIDE * SIDE).filter((cell) => letters[cell] !== "");
  const columns = used.map((cell) => cell % SIDE);
  const [left, right] = [Math.min(...columns), Math.max(...columns)];
  const [top, bottom] = [Math.floor(used[0]! / SIDE), Math.floor(used.at(-1)! / SIDE)];
  return rows.slice(top, bottom + 1).map((row) => row.slice(left, right + 1).map((letter) => letter || " "));
}

/** Crosswords with a list of their words, and exactly one way to place them. */
export const wordscapes: PuzzleGenerator = {
  task: "wordscapes",
  measure: "words",

  draw(random, level) {
    const count = atLevel([4, 6, 8, 11], level);
    const { solution, grid, across, down } = drawUntil(() => {
      const layout = layOut(random, count);
      if (layout === undefined) return undefined;
      const solution = cropped(layout.letters);
      const grid = solution.map((row) => row.map((letter) => (letter === " " ? "0" : "X")));
      const [across, down] = [random.shuffle(layout.across), random.shuffle(layout.down)];
      return hasOneSolution(wordscapesModel(slotsOf(grid), across, down))
        ? { solution, grid, across, down }
        : undefined;
    });
    const answer = JSON.stringify(solution);
    return {
      question: `Fill this crossword: X is a cell for a letter, 0 stays blank. Every run of letters is one of the listed words, and each word is used once.\n\n${shown(grid)}\n\nAcross: ${across.join(", ")}\nDown: ${down.join(", ")}\n\nGive the grid as a list of lists of strings, one letter a cell and " " for a blank, such as [["a", " "], ["t", "o"]].`,
      solution: answer,
      answer,
      metadata: { grid, across_words: across, down_words: down, solution },
      effort: count,
    };
  },
};
