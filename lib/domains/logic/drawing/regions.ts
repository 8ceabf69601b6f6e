import type { CounterRandom } from "../../../random.ts";
import { connected } from "./lattice.ts";

/** Region of each cell, by number. */
export type RegionMap = readonly number[];

/** Grows the seeds' regions cell by cell, at random, until no cell is left. @param seeds the first cells of each region. */
export function growRegions(
  random: CounterRandom,
  neighbours: readonly (readonly number[])[],
  seeds: readonly (readonly number[])[],
): number[] {
  const regions = neighbours.map(() => -1);
  for (const [region, cells] of seeds.entries()) for (const cell of cells) regions[cell] = region;
  for (let open = frontier(neighbours, regions); open.length > 0; open = frontier(neighbours, regions)) {
    const cell = random.choice(open);
    regions[cell] = regions[random.choice(neighbours[cell]!.filter((near) => regions[near]! >= 0))]!;
  }
  return regions;
}

const frontier = (neighbours: readonly (readonly number[])[], regions: RegionMap): number[] =>
  neighbours.flatMap((near, cell) =>
    regions[cell]! < 0 && near.some((other) => regions[other]! >= 0) ? [cell] : [],
  );

/**
 * Moves one of the cells to a neighbouring region if its own region stays connected; undefined if no cell can move. A
 * region of one cell keeps it.
 */
export function moveBorder(
  random: CounterRandom,
  neighbours: readonly (readonly number[])[],
  regions: RegionMap,
  cells: readonly number[],
): number[] | undefined {
  for (const cell of random.shuffle(cells)) {
    const own = regions[cell]!;
    const others = neighbours[cell]!.map((near) => regions[near]!).filter(
      (region) => region !== own && region >= 0,
    );
    const rest = regions.flatMap((region, other) => (region === own && other !== cell ? [other] : []));
    const stays = (other: number) => other !== cell && regions[other] === own;
    if (others.length === 0 || rest.length === 0) continue;
    if (connected(rest[0]!, neighbours, stays).length < rest.length) continue;
    const to = random.choice(others);
    return regions.map((region, other) => (other === cell ? to : region));
  }
  return undefined;
}
