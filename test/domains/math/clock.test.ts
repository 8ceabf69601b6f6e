import { expect, test } from "vitest";
import { readClock, sameTime } from "../../../lib/domains/math/clock.ts";

// Deliberate faults (mutants) that these tests detect: 12 a.m. is noon, minutes may exceed 59, a bare ratio is a
// time.

test.each([
  ["2:30 \\text{ p.m.}", [870], true],
  ["2:30 \\text{ PM}", [870], true],
  ["12:05 am", [5], true],
  ["12 p.m.", [720], true],
  ["2:30", [150, 870], false],
  ["14:30", [870], false],
])("%j is %j", (text, minutes, sure) => expect(readClock(text)).toEqual({ minutes, sure }));

test.each(["2:60", "2:3", "25:00", "13:00 pm", "0:30 am", "230", "2:30:10", "x"])("%j is no time", (text) =>
  expect(readClock(text)).toBeUndefined(),
);

test.each([
  ["2:30 p.m.", "14:30", true],
  ["2:30 p.m.", "2:30", true],
  ["2:30 p.m.", "2:30 a.m.", false],
  ["2:30 p.m.", "1:15", false],
  ["2:30 p.m.", "x", false],
  ["2:30", "1:15", undefined],
])("%s and %s: %s", (a, b, expected) => expect(sameTime(readClock(a), readClock(b))).toBe(expected));
