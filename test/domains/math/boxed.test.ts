import { describe, expect, test } from "vitest";
import { boxContent, boxContents, lastBox, MAX_TAIL } from "../../../lib/domains/math/boxed.ts";

// Deliberate faults (mutants) that these tests detect: the first box instead of the last, length in UTF-16 units,
// brace depth is ignored, near boxes are not joined, listed boxes are not joined, a repeated box is joined.

describe("the last box", () => {
  test.each([
    ["so \\boxed{1} or \\boxed{2}.", "\\boxed{2}."],
    ["\\boxed{\\boxed{2}}", "\\boxed{2}}"],
  ])("of %s", (text, tail) => expect(lastBox(text)).toEqual({ status: "found", text: tail }));

  test.each(["", "5", "\\fbox{2}", "\\boxed {2}", "boxed{2}", "\\Boxed{2}"])("is absent from %j", (text) =>
    expect(lastBox(text)).toEqual({ status: "no_answer", reason: "no \\boxed{}" }),
  );

  test("is lost when empty, or when too much follows it, in code points", () => {
    expect(lastBox("x \\boxed{} y").status).toBe("unparsable");
    const box = "\\boxed{1}";
    expect(lastBox(box.padEnd(MAX_TAIL, "x")).status).toBe("found");
    expect(lastBox(box.padEnd(MAX_TAIL + 1, "x")).status).toBe("unparsable");
    expect(lastBox(box + "😀".repeat(MAX_TAIL - box.length)).status).toBe("found");
    expect(lastBox(box + "😀".repeat(MAX_TAIL - box.length + 1)).status).toBe("unparsable");
  });

  test("is found in ten megabytes without a scan per box", () => {
    expect(lastBox("\\boxed{5}".repeat(1_000_000))).toEqual({ status: "found", text: "\\boxed{5}" });
  });
});

test.each([
  ["\\boxed{ \\frac{1}{2} } rest}", { text: "\\frac{1}{2}", closed: true }],
  ["\\boxed{\\frac{1}{2}", { text: "{\\frac{1}{2}", closed: false }],
  ["\\boxed{2", undefined],
  ["\\boxed{}", { text: "", closed: true }],
])("content of %s", (tail, expected) => expect(boxContent(tail)).toEqual(expected));

describe("contents", () => {
  test.each([
    ["no box", "no box", "no box"],
    ["\\boxed{1} and \\boxed{2}", "1,2", "1,2"],
    ["\\boxed{1}, \\boxed{1}", "1", "1"],
    ["\\boxed{1} \\boxed{2}", "1,2", "1,2"],
    ["\\boxed{3} or \\boxed{1} which is a solution, and once again it is \\boxed{1}", "1", "3,1"],
    ["\\boxed{1} but on second thought it must be the value \\boxed{2}", "2", "1,2"],
    ["\\boxed{1} which is one solution, and the other is \\boxed{2}", "1,2", "1,2"],
    ["\\fbox{7}", "7", "7"],
    ["\\boxed {8}", "8", "8"],
    ["\\boxed{1", "{1", "{1"],
    ["\\boxed 5", "5", "5"],
  ])("%s", (text, last, every) => {
    expect([boxContents(text, false), boxContents(text, true)]).toEqual([last, every]);
  });
});
