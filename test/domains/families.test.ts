import { describe, expect, test } from "vitest";
import type { Draft, Family } from "../../lib/data/family.ts";
import { FAMILIES } from "../../lib/domains/families.ts";
import { loadBuiltIn } from "../../lib/domains/verifiers.ts";
import { CounterRandom } from "../../lib/random.ts";

/** Drafts of a family and level, each from its own random stream. */
function drafts(family: Family, level: number, count: number): Draft[] {
  return Array.from({ length: count }, (_, i) => family.draw(new CounterRandom(1, i, level), level));
}

test("the families are the eight of the quick start, in domain order", () => {
  expect(FAMILIES.map(({ domain, name }) => `${domain}/${name}`)).toEqual([
    "math/chain",
    "math/cong",
    "code/desc",
    "code/io",
    "logic/bool",
    "logic/latin",
    "instruction-following/if",
    "function-calling/fc",
  ]);
});

describe.each(FAMILIES.flatMap((family) => [0, 1, 2, 3].map((level) => ({ family, level }))))(
  "$family.name at level $level",
  ({ family, level }) => {
    test("its own answer is correct by its verifier, finished and only then", async () => {
      const verifier = (await loadBuiltIn(family.verifier))!;
      for (const { answer, steps, reference } of drafts(family, level, 40)) {
        const text = `<think>${steps}</think>${answer}<eos>`;
        const parsed = verifier.parseReference(reference);
        expect(await verifier.verify({ text, finish: "eos" }, parsed)).toMatchObject({
          status: "correct",
          score: 1,
        });
        expect(await verifier.verify({ text, finish: "length" }, parsed)).toMatchObject({
          status: "no_answer",
          score: 0,
        });
      }
    });

    test("the same stream draws the same draft", () => {
      expect(drafts(family, level, 5)).toEqual(drafts(family, level, 5));
    });

    test("references are plain data", () => {
      for (const { reference } of drafts(family, level, 5))
        expect(structuredClone(reference)).toEqual(reference);
    });
  },
);

test.each(FAMILIES)("$name knows no level 4", (family) => {
  expect(() => family.draw(new CounterRandom(1), 4)).toThrow(/level is 4, expected 0..3/);
});
