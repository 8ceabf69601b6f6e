// Deliberate faults (mutants) that these tests detect: the cut falls inside an escape sequence, every part of a
// stacked bar is rounded down, a sparkline with more values than cells skips values.
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  COLORED,
  clip,
  duration,
  flow,
  PLAIN,
  padEnd,
  padStart,
  percent,
  progressBar,
  short,
  sparkline,
  stackedBar,
  wholeCells,
  width,
} from "../../lib/report/ansi.ts";

const styled = fc
  .array(fc.tuple(fc.string({ maxLength: 5 }), fc.constantFrom("bold", "dim", "hue", "none")))
  .map((parts) =>
    parts
      .map(([text, how], i) =>
        how === "none" ? text : how === "hue" ? COLORED.hue(i, text) : COLORED[how as "bold"](text),
      )
      .join(""),
  );

describe("width and clip", () => {
  test("escapes take no column", () => {
    expect(width(COLORED.bold("abc"))).toBe(3);
    expect(width(COLORED.hue(3, "▁▂▃"))).toBe(3);
  });

  test("a clipped text fits, keeps its beginning and every escape", () => {
    fc.assert(
      fc.property(styled, fc.nat(30), (text, columns) => {
        const cut = clip(text, columns);
        expect(width(cut)).toBeLessThanOrEqual(columns);
        expect(width(cut)).toBeGreaterThanOrEqual(Math.min(columns, width(text)) - 1); // a wide one may not fit
        // biome-ignore lint/suspicious/noControlCharactersInRegex: counting escape sequences
        const escapes = (s: string) => s.match(/\u001b\[\d+m/g) ?? [];
        expect(escapes(cut)).toEqual(escapes(text));
      }),
    );
  });

  test("what is written wide takes two columns, what combines takes none", () => {
    expect(width("数学")).toBe(4);
    expect(width("한국어 수학")).toBe(11);
    expect(width("ｆｕｌｌ")).toBe(8);
    expect(width("e\u0301")).toBe(1);
    expect(width("👩‍🔬")).toBe(2);
    expect(clip("数学と", 3)).toBe("数"); // a wide character that does not fit is left out
    expect(clip(COLORED.bold("数学"), 2)).toBe(COLORED.bold("数"));
    expect(padEnd("数学", 6)).toBe("数学  ");
  });

  test("padding counts columns, not bytes", () => {
    expect(width(padEnd(COLORED.dim("ab"), 5))).toBe(5);
    expect(padStart("7", 3)).toBe("  7");
    expect(padEnd("long", 2)).toBe("long");
  });
});

describe("sparkline", () => {
  test("spans its limits from low to high, values beyond them clamped", () => {
    expect(sparkline([0, 0.5, 1, -3, 7], 5, 0, 1)).toBe("▁▅█▁█");
  });

  test("shows the mean of each share when there are more values than columns", () => {
    expect(sparkline([0, 0, 1, 1], 2, 0, 1)).toBe("▁█");
    expect(sparkline([0, 1, 0, 1], 2, 0, 1)).toBe("▅▅");
  });

  test("is always as wide as asked; what is missing is a gap", () => {
    expect(sparkline([1, Number.NaN, 1], 5, 0, 1)).toBe("█ █  ");
    expect(sparkline([], 3, 0, 1)).toBe("   ");
    expect(sparkline([2, 2], 2, 2, 2)).toBe("▅▅");
  });
});

test("a stacked bar is exactly as wide as asked, its parts in proportion", () => {
  const weights = fc.array(fc.double({ min: 0, max: 100, noNaN: true }), { minLength: 1, maxLength: 9 });
  fc.assert(
    fc.property(weights, fc.integer({ min: 1, max: 80 }), (parts, columns) => {
      expect(width(stackedBar(parts, columns, COLORED))).toBe(columns);
    }),
  );
  const marked = { ...PLAIN, hue: (i: number, text: string) => String(i).repeat(text.length) };
  expect(stackedBar([1, 2, 1], 8, marked)).toBe("00111122");
  expect(stackedBar([1, 1, 1], 4, marked)).toBe("0012");
  expect(stackedBar([0, 0], 4, marked)).toBe("    ");
});

test("a progress bar knows no more than all and no less than nothing", () => {
  expect(progressBar(0.5, 4, PLAIN)).toBe("━━──");
  expect([progressBar(7, 2, PLAIN), progressBar(-1, 2, PLAIN)]).toEqual(["━━", "──"]);
});

describe("a terminal without a size, or one that is being resized", () => {
  const columns = fc.constantFrom(-80, -1, -0.5, 0, 0.5, 1, 1.5, 3, Number.NaN, Infinity, -Infinity);
  const numbers = fc.array(fc.double());

  test("nothing throws, nothing is wider than the cells there are", () => {
    fc.assert(
      fc.property(columns, numbers, fc.double(), styled, (room, values, fraction, text) => {
        for (const drawn of [
          sparkline(values, room, 0, fraction),
          progressBar(fraction, room, COLORED),
          stackedBar(values, room, COLORED),
          clip(text, room),
        ]) {
          expect(width(drawn)).toBeLessThanOrEqual(wholeCells(room));
        }
        for (const padded of [padEnd(text, room), padStart(text, room)]) {
          expect(width(padded)).toBe(Math.max(wholeCells(room), width(text)));
        }
      }),
    );
  });
});

test("pieces flow into lines, each as full as it can be; a wide one stands alone", () => {
  const pieces = fc.array(fc.string({ maxLength: 12, minLength: 1 }), { minLength: 1 });
  fc.assert(
    fc.property(pieces, fc.integer({ min: -1, max: 30 }), (words, columns) => {
      const lines = flow(words, columns, " ");
      expect(lines.join(" ")).toBe(words.join(" "));
      for (const line of lines) expect(width(line) <= columns || words.includes(line)).toBe(true);
    }),
  );
  expect(flow(["ab", "cd", "efghij", "k"], 5, " ")).toEqual(["ab cd", "efghij", "k"]);
});

test.each([
  [duration(Number.NaN), "–"],
  [duration(0), "0:00"],
  [duration(59.6), "1:00"],
  [duration(221), "3:41"],
  [duration(3729), "1:02:09"],
  [short(26_149), "26.1k"],
  [short(0.00312), "0.00312"],
  [short(1_234_567), "1.23M"],
  [short(-2e9), "-2G"],
  [percent(0.083), "8.3\u00a0%"],
  [percent(1, 0), "100\u00a0%"],
  [percent(undefined), "–"],
])("%s", (text, expected) => {
  expect(text).toBe(expected);
});
