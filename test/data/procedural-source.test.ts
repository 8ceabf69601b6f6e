import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Family } from "../../lib/data/family.ts";
import { isHeldOut } from "../../lib/data/index.ts";
import { drawOnSide, ProceduralSource } from "../../lib/data/procedural-source.ts";
import { FAMILIES } from "../../lib/domains/families.ts";
import { PROBLEM_SOURCES } from "../../lib/domains/index.ts";
import { CounterRandom } from "../../lib/random.ts";

/** test/domains/problem-sources.test.ts opens the puzzles, which the same class draws more slowly. */
const NAMES = Object.keys(PROBLEM_SOURCES).filter((name) => name.startsWith("procedural/"));

const families = new Map<string, readonly Family[]>();
for (const name of NAMES) families.set(name, await PROBLEM_SOURCES[name]!());
const open = (name: string, seed = 1, ordinal = 0) =>
  new ProceduralSource(families.get(name)!, seed, ordinal);

describe.each(NAMES)("%s", (name) => {
  const source = open(name);

  test("never trains on a held-out question and evaluates on nothing else", () => {
    for (let i = 0; i < 2000; i++) {
      expect(isHeldOut(source.problem(i).question)).toBe(false);
      if (i < 300) expect(isHeldOut(source.heldOut(i).question)).toBe(true);
    }
  });

  test("a problem is a function of seed and index", () => {
    fc.assert(
      fc.property(fc.nat(100_000), (index) => {
        expect(open(name).problem(index)).toEqual(source.problem(index));
        expect(open(name).heldOut(index)).toEqual(source.heldOut(index));
      }),
      { numRuns: 30 },
    );
    const questions = (seed: number) =>
      Array.from({ length: 20 }, (_, i) => open(name, seed).problem(i).question);
    expect(questions(1)).not.toEqual(questions(2));
  });

  test("training levels and families are uniform", () => {
    const n = 4000;
    const counts = new Map<string, number>();
    for (let i = 0; i < n; i++) {
      const { family, level } = source.problem(i);
      counts.set(`${family} ${level}`, (counts.get(`${family} ${level}`) ?? 0) + 1);
    }
    const share = 1 / (4 * source.families.length);
    expect(counts.size).toBe(1 / share);
    for (const count of counts.values()) {
      expect(Math.abs(count / n - share)).toBeLessThan(4 * Math.sqrt((share * (1 - share)) / n));
    }
  });

  test("any run of 4 x families evaluation problems has every family at every level once", () => {
    const round = 4 * source.families.length;
    for (const start of [0, 3, 17]) {
      const kinds = Array.from({ length: round }, (_, i) => source.heldOut(start + i)).map(
        ({ family, level }) => `${family} ${level}`,
      );
      expect(new Set(kinds).size).toBe(round);
    }
  });
});

test("ids are unique over sources, purposes and indices", () => {
  const ids = NAMES.flatMap((name, ordinal) => {
    const source = open(name, 1, ordinal);
    return Array.from({ length: 50 }, (_, i) => [source.problem(i).id, source.heldOut(i).id]).flat();
  });
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.every((id) => Number.isInteger(id) && id >= 0 && id < 2 ** 32)).toBe(true);
});

test("every family holds out 8 to 12 % of its questions at every level, the ten-question space included", () => {
  for (const family of FAMILIES) {
    for (let level = 0; level < 4; level++) {
      const questions = new Set(
        Array.from({ length: 3000 }, (_, i) => family.draw(new CounterRandom(13, i, level), level).question),
      );
      const share = [...questions].filter(isHeldOut).length / questions.size;
      expect([family.name, level, share > 0.075 && share < 0.125]).toEqual([family.name, level, true]);
    }
  }
});

test("a family whose questions are all on one side is reported instead of being drawn for ever", () => {
  const draft = { question: "Truth table of a", answer: "0011", steps: "", reference: {} };
  const single: Family = { name: "single", domain: "logic", verifier: "truth-table", draw: () => draft };
  const side = isHeldOut(draft.question);
  expect(drawOnSide(single, 0, side, () => new CounterRandom(1))).toBe(draft);
  expect(() => drawOnSide(single, 0, !side, () => new CounterRandom(1))).toThrowError(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining("single at level 0") }),
  );
});
