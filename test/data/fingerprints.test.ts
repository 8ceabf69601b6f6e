import fc from "fast-check";
import { expect, test } from "vitest";
import { Fingerprints } from "../../lib/data/fingerprints.ts";

test("rows are told apart as a map of both hashes would", () => {
  const half = fc.integer({ min: 0, max: 40 }).map((n) => (n * 0x06543217) >>> 0); // few values: pairs repeat and collide
  fc.assert(
    fc.property(fc.array(fc.tuple(half, half), { maxLength: 3000 }), (all) => {
      const table = new Fingerprints();
      const known = new Map<string, number>();
      for (const [first, second] of all) {
        const name = `${first} ${second}`;
        const before = known.get(name);
        if (before === undefined) known.set(name, known.size);
        expect(table.add(first, second)).toBe(before);
      }
    }),
    { numRuns: 30 },
  );
});
