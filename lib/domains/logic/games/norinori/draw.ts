import { atLevel } from "../../../../data/family.ts";
import type { CounterRandom } from "../../../../random.ts";
import {
  bit,
  type Constraint,
  type Model,
  ones,
  search,
  span,
  sumWithin,
} from "../../drawing/finite-domain.ts";
import { orthogonal, range, rowsOf, shown } from "../../drawing/lattice.ts";
import type { PuzzleGenerator } from "../../drawing/puzzle.ts";
import { growRegions, moveBorder, type RegionMap } from "../../drawing/regions.ts";
import { drawUntil } from "../../drawing/uniqueness.ts";

const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVW";
const SHADOW = -1;
const MAX_MOVES = 5;

type Domino = readonly [number, number];

const SPACING = new Map<number, readonly Constraint[]>();

/**
 * Requires each covered cell to have exactly one covered neighbour: the cells fall into dominoes that share
 * no edge.
 */
function spacing(n: number): readonly Constraint[] {
  const known = SPACING.get(n);
  if (known !== undefined) return known;
  const made = orthogonal(n, n).flatMap((near, variable) => [
    sumWithin([...ones(near), { variable, weights: [0, -1] }], 0, near.length),
    sumWithin([...ones(near), { variable, weights: [0, near.length - 1] }], 0, near.length),
  ]);
  SPACING.set(n, made);
  return made;
}

/**
 * Model of cells that are covered (1) or free (0), by dominoes that share no edge: two covered cells in each
 * region, and every shadow cell covered. The covered cells determine the dominoes. @param regions shadow
 * cells are -1
 */
export function norinoriModel(n: number, regions: RegionMap): Model {
  const named = new Map<number, number[]>();
  for (const [cell, region] of regions.entries()) {
    if (region !== SHADOW) named.set(region, [...(named.get(region) ?? []), cell]);
  }
  return {
    domains: regions.map((region) => (region === SHADOW ? bit(1) : span(0, 1))),
    constraints: [...[...named.values()].map((cells) => sumWithin(ones(cells), 2, 2)), ...spacing(n)],
  };
}

/** Places dominoes at random until no further one fits. */
function scatter(random: CounterRandom, n: number): Domino[] {
  const near = orthogonal(n, n);
  const taken = new Set<number>();
  const pairs = near.flatMap((others, a) => others.filter((b) => a < b).map((b): Domino => [a, b]));
  return random.shuffle(pairs).filter((domino) => {
    const isFree = domino.every(
      (cell) => !taken.has(cell) && near[cell]!.every((other) => !taken.has(other)),
    );
    if (isFree) for (const cell of domino) taken.add(cell);
    return isFree;
  });
}

/** Randomly joins each region with a neighbour; undefined if one has none left. */
function joinPairs(
  random: CounterRandom,
  neighbours: readonly (readonly number[])[],
  parts: RegionMap,
): number[] | undefined {
  const alone = new Set(parts.filter((part) => part !== SHADOW));
  const beside = new Map([...alone].map((part) => [part, new Set<number>()]));
  for (const [cell, near] of neighbours.entries())
    for (const other of near) beside.get(parts[cell]!)?.add(parts[other]!);
  const choices = (part: number) =>
    [...beside.get(part)!].filter((other) => other !== part && alone.has(other));
  const joined = new Map<number, number>();
  while (alone.size > 0) {
    const fewest = Math.min(...[...alone].map((part) => choices(part).length));
    if (fewest === 0) return undefined;
    const part = random.choice([...alone].filter((one) => choices(one).length === fewest));
    const partner = random.choice(choices(part));
    for (const one of [part, partner]) {
      joined.set(one, joined.size >> 1);
      alone.delete(one);
    }
  }
  return parts.map((part) => joined.get(part) ?? SHADOW);
}

/** Regions with two covered cells each; moves borders to exclude further solutions until there is none. */
function regionsFor(
  random: CounterRandom,
  n: number,
  dominoes: readonly Domino[],
  shadows: number,
): RegionMap | undefined {
  const near = orthogonal(n, n);
  const dark = new Set(dominoes.slice(0, shadows).flat());
  const lit = near.map((others, cell) => (dark.has(cell) ? [] : others.filter((other) => !dark.has(other))));
  const covered = new Set(dominoes.flat());
  const parts = growRegions(
    random,
    lit,
    dominoes
      .slice(shadows)
      .flat()
      .map((cell) => [cell]),
  );
  if (parts.some((part, cell) => part === SHADOW && !dark.has(cell))) return undefined;
  let regions = joinPairs(random, lit, parts);
  for (let i = 0; i < MAX_MOVES && regions !== undefined; i++) {
    const { solutions, complete } = search(norinoriModel(n, regions), { maxNodes: 500 });
    if (!complete) return undefined;
    if (solutions.length === 1) return regions;
    const stray = solutions.flatMap((cells) =>
      range(n * n).filter((cell) => cells[cell] === 1 && !covered.has(cell)),
    );
    regions = moveBorder(random, lit, regions, stray);
  }
  return undefined;
}

/** A domino in each region and, from level 2 on, one on two shadow cells; one solution. */
export const norinori: PuzzleGenerator = {
  task: "norinori",
  measure: "cells, shadows twice",

  draw(random, level) {
    const n = atLevel([4, 5, 5, 6], level);
    const shadows = atLevel([0, 0, 1, 1], level);
    const { dominoes, regions } = drawUntil(() => {
      const dominoes = scatter(random, n);
      const regions = regionsFor(random, n, dominoes, shadows);
      return regions && { dominoes, regions };
    });
    const region_grid = rowsOf(
      regions.map((region) => (region === SHADOW ? "X" : LETTERS[region]!)),
      n,
    );
    const place = (cell: number) => [Math.floor(cell / n) + 1, (cell % n) + 1] as const;
    const solution = dominoes.toSorted(([a], [b]) => a - b).map((domino) => domino.map(place));
    const spoken = solution.map(
      (cells) => `[${cells.map(([row, column]) => `(${row},${column})`).join(",")}]`,
    );
    return {
      question: `Letters divide this ${n} x ${n} grid into regions${shadows > 0 ? "; X marks shadow cells, which belong to no region" : ""}. Place dominoes, each on two cells that share an edge, so that exactly two cells of every region are covered${shadows > 0 ? " and every shadow cell is covered" : ""}. A domino may lie across regions. No two dominoes share an edge.\n\n${shown(region_grid)}\n\nGive the dominoes as pairs of cells (row,column), counted from 1, such as [(1,1),(1,2)], [(3,1),(4,1)].`,
      solution: spoken.join(", "),
      answer: "",
      metadata: {
        region_grid,
        solution,
        n,
        region_nums: dominoes.length - shadows,
        shadow_ratio: (2 * shadows) / (n * n),
      },
      effort: n * n + 2 * shadows,
    };
  },
};
