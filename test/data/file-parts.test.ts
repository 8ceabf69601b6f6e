import { writeFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { PartMemory } from "../../lib/data/file-parts.ts";
import { scratch } from "./filtered.ts";

test("every line is in one part, wherever parts are cut", () => {
  const text = fc.array(fc.constantFrom("a", "bb\n", "\n", "é\r\n", "long ".repeat(9)), { maxLength: 40 });
  const small = scratch("cut.jsonl");
  fc.assert(
    fc.property(text, fc.integer({ min: 1, max: 50 }), (pieces, each) => {
      const bytes = Buffer.from(pieces.join(""));
      writeFileSync(small, bytes);
      const memory = new PartMemory();
      const found: Buffer[] = [];
      for (let from = 0; from < bytes.length; from += each) {
        const part = { path: small, from, to: Math.min(from + each, bytes.length) };
        const { bytes: lines, start } = memory.linesOf(part);
        if (lines.length > 0) expect(start).toBe(Buffer.concat(found).length);
        found.push(Buffer.from(lines));
      }
      expect(Buffer.concat(found).equals(bytes)).toBe(true);
    }),
  );
});

test("a line that ends far behind its part is whole", () => {
  const long = scratch("long.jsonl");
  const line = `"${"x".repeat(300_000)}"`;
  writeFileSync(long, `1\n${line}\n2\n`);
  const { bytes, start } = new PartMemory().linesOf({ path: long, from: 0, to: 10 });
  expect([start, bytes.toString()]).toEqual([0, `1\n${line}\n`]);
});
