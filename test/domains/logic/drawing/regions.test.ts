import { expect, test } from "vitest";
import { connected, orthogonal, range } from "../../../../lib/domains/logic/drawing/lattice.ts";
import { growRegions, moveBorder } from "../../../../lib/domains/logic/drawing/regions.ts";
import { CounterRandom } from "../../../../lib/random.ts";

const near = orthogonal(5, 5);

/** True if the cells of every region are connected. */
const inOnePiece = (regions: readonly number[]) =>
  regions.every((region, cell) => {
    const reached = connected(cell, near, (other) => regions[other] === region).length;
    return reached === regions.filter((other) => other === region).length;
  });

test("seeds grow to connected regions that fill the grid", () => {
  for (let seed = 0; seed < 50; seed++) {
    const regions = growRegions(new CounterRandom(seed), near, [[0, 1], [12], [24]]);
    expect([regions[0], regions[1], regions[12], regions[24]]).toEqual([0, 0, 1, 2]);
    expect([seed, regions.includes(-1), inOnePiece(regions)]).toEqual([seed, false, true]);
  }
});

test("cells that no seed reaches stay without a region", () => {
  expect(growRegions(new CounterRandom(1), [[1], [0], []], [[0]])).toEqual([0, 0, -1]);
});

test("a moved border changes one of the cells, to a neighbour's region, and leaves all regions in one piece", () => {
  let moves = 0;
  for (let seed = 0; seed < 100; seed++) {
    const random = new CounterRandom(seed, 1);
    const regions = growRegions(random, near, [[0], [7], [18], [24]]);
    const cells = random.sample(range(25), 6);
    const moved = moveBorder(random, near, regions, cells);
    if (moved === undefined) continue;
    const changed = range(25).filter((cell) => moved[cell] !== regions[cell]);
    expect([seed, changed.length, cells.includes(changed[0]!), inOnePiece(moved)]).toEqual([
      seed,
      1,
      true,
      true,
    ]);
    expect(near[changed[0]!]!.map((cell) => regions[cell])).toContain(moved[changed[0]!]);
    expect(new Set(moved)).toEqual(new Set(regions));
    moves += 1;
  }
  expect(moves).toBeGreaterThan(80);
});

test("nothing moves where the region would vanish or fall apart", () => {
  const line = orthogonal(1, 5);
  const random = new CounterRandom(1);
  expect(moveBorder(random, line, [0, 1, 0, 0, 0], [1])).toBeUndefined();
  expect(moveBorder(random, line, [0, 0, 0, 1, 1], [1])).toBeUndefined();
  expect(moveBorder(random, line, [0, 0, 0, 1, 1], [])).toBeUndefined();
  expect(moveBorder(random, line, [0, 0, 0, 1, 1], [2])).toEqual([0, 0, 1, 1, 1]);
});
