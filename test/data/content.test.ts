import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { contentKey, hashes, hashesOf, normalized, splitHash, UserTurn } from "../../lib/data/content.ts";

const spaced = fc.array(fc.constantFrom("a", "b c", " ", "  ", "\t", "\n", "\u00a0", "\ufeff", "é"), {
  maxLength: 12,
});

test("runs of space are one space, and none is left at the ends", () => {
  fc.assert(
    fc.property(spaced, (parts) => {
      const text = parts.join("");
      const words = text.split(/\s+/).filter((word) => word !== "");
      expect(normalized(text)).toBe(words.join(" "));
    }),
  );
});

test("a key is 22 characters of the SHA-256 of the words", () => {
  const expected = createHash("sha256").update("Zoë has 2").digest("base64url").slice(0, 22);
  expect(contentKey(" Zoë\n has  2")).toBe(expected);
});

test("of a hundred thousand texts that differ in a digit no two have both hashes, and each spreads", () => {
  const pair = new Uint32Array(2);
  const seen = new Set<bigint>();
  const singles = [new Set<number>(), new Set<number>()];
  const n = 100_000;
  for (let i = 0; i < n; i++) {
    hashes(`Ann has ${i} coins and gives 3 away. How many are left?`, pair);
    seen.add((BigInt(pair[0]!) << 32n) | BigInt(pair[1]!));
    singles[0]!.add(pair[0]!);
    singles[1]!.add(pair[1]!);
  }
  expect(seen.size).toBe(n);
  // n² / 2^33 = 1.2 pairs are expected to share one 32-bit half
  for (const single of singles) expect(n - single.size).toBeLessThan(12);
});

test("the hash that decides the split is what it was in every version", () => {
  expect(splitHash("Ann has 2 coins.")).toBe(1004873491);
  expect(splitHash("")).toBe(3790519285);
});

test("a turn of the user's has the hashes and the key of its text, whatever its words are", () => {
  const words = fc.array(
    fc.oneof(
      fc.constantFrom(
        " ",
        "  ",
        "\n",
        "\t",
        '"',
        "\\",
        "\\n",
        "\u007f",
        "\u0001",
        "\u00a0",
        "\u2028",
        "\ud800",
        "𝔸",
        "字",
      ),
      fc.string({ unit: "binary", maxLength: 4 }),
      fc.constantFrom("Ann has 3 coins.", "é", "∑"),
    ),
    { maxLength: 8 },
  );
  const [of, by] = [new Uint32Array(2), new Uint32Array(2)];
  fc.assert(
    fc.property(words, (parts) => {
      const task = parts.join("");
      const text = JSON.stringify([[{ role: "user", content: task }], null]);
      hashesOf(new UserTurn(task), of);
      hashesOf(text, by);
      expect([...of]).toEqual([...by]);
      expect(of[0]).toBe(splitHash(normalized(text)));
      expect(String(new UserTurn(task))).toBe(text);
    }),
    { numRuns: 2000 },
  );
});
