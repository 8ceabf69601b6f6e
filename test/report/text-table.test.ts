// Deliberate faults (mutants) that these tests detect: a block lacks the row names, a column is lost between two
// blocks, the gap is not counted.
import fc from "fast-check";
import { expect, test } from "vitest";
import { textTable } from "../../lib/report/text-table.ts";

const head = ["", "reward", "tokens", "n"];
const rows = [
  ["math", "0.41 -> 0.83", "23.2", "192"],
  ["logic", "0.46", "27.1", "8"],
];

test("the first column left, the others right, two spaces between", () => {
  expect(textTable({ head, rows }, 80)).toEqual([
    "             reward  tokens    n",
    "math   0.41 -> 0.83    23.2  192",
    "logic          0.46    27.1    8",
  ]);
});

test("what finds no room stands below, rows named again", () => {
  expect(textTable({ head, rows }, 31)).toEqual([
    "             reward  tokens",
    "math   0.41 -> 0.83    23.2",
    "logic          0.46    27.1",
    "",
    "         n",
    "math   192",
    "logic    8",
  ]);
  expect(textTable({ head, rows }, 32)).toHaveLength(3);
});

test("every cell stands once, and no line is wider than asked but for one column alone", () => {
  const cell = fc.stringMatching(/^[a-z]{1,9}$/);
  const table = fc
    .integer({ min: 2, max: 7 })
    .chain((n) => fc.array(fc.array(cell, { minLength: n, maxLength: n }), { minLength: 1, maxLength: 4 }));
  fc.assert(
    fc.property(table, fc.integer({ min: -1, max: 60 }), (cells, columns) => {
      const lines = textTable({ head: cells[0]!, rows: cells.slice(1) }, columns);
      const blocks = lines
        .join("\n")
        .split("\n\n")
        .map((block) => block.split("\n").map((l) => l.trim().split(/ +/)));
      const joined = cells.map((row, r) => [row[0], ...blocks.flatMap((block) => block[r]!.slice(1))]);
      expect(joined).toEqual(cells);
      for (const [b, block] of blocks.entries())
        if (block[0]!.length > 2)
          for (const line of lines.join("\n").split("\n\n")[b]!.split("\n"))
            expect(line.length).toBeLessThanOrEqual(columns);
    }),
  );
});

test("a line is painted whole, the head as row -1", () => {
  const paint = (line: string, row: number) => `${row}:${line}`;
  expect(textTable({ head, rows, paint }, 80).map((line) => line.slice(0, 3))).toEqual(["-1:", "0:m", "1:l"]);
});
