// Deliberate faults (mutants) that these tests detect: the first block is taken, interpreter sessions are read like
// other code, strict does not pair fences.
import { describe, expect, test } from "vitest";
import { lastProgram, looseBlocks, pythonBlocks } from "../../../lib/domains/code/extract.ts";

const F = "```";
const both = (text: string) => [lastProgram(text, looseBlocks), lastProgram(text, pythonBlocks)];

describe("by both rules", () => {
  test.each([
    ["a block of python", `a\n${F}python\nx = 1\n${F}\nb`, "x = 1"],
    ["of py", `${F}py\nx\n${F}`, "x"],
    ["of Python, whatever the case", `${F}PyThOn\nx\n${F}`, "x"],
    ["without language", `${F}\nx\n${F}`, "x"],
    ["blanks around the code go", `${F}python\n\n  x\n\n${F}`, "x"],
    ["the last of two", `${F}python\nx\n${F}\n${F}python\ny\n${F}`, "y"],
    ["no interpreter session if another is there", `${F}python\nx\n${F}\n${F}python\n>>> x\n${F}`, "x"],
    ["an interpreter session if nothing else is there", `${F}python\n>>> x\n${F}`, ">>> x"],
    ["nothing behind the end of the turn", `${F}python\nx\n${F}<|im_end|>\n${F}python\ny\n${F}`, "x"],
    [
      "nothing behind the end of the response",
      `${F}python\nx\n${F}[END FINAL RESPONSE]${F}python\ny\n${F}`,
      "x",
    ],
    ["nothing behind a rule", `${F}python\nx\n${F}\n---\n${F}python\ny\n${F}`, "x"],
    ["no fence", "x = 1", undefined],
    ["no closing fence", `${F}python\nx = 1`, undefined],
    ["another language", `${F}cpp\nint x;\n${F}`, undefined],
    ["no line break after the fence", `${F}python x${F}`, undefined],
    ["an empty block", `${F}python\n\n${F}`, undefined],
    ["an empty last block", `${F}python\nx\n${F}\n${F}python\n${F}`, undefined],
    ["", "", undefined],
  ])("%s", (_, text, code) => {
    expect(both(text)).toEqual([code, code]);
  });
});

describe("where the rules differ", () => {
  test.each([
    [
      "the end of another language's block opens nothing",
      `${F}cpp\nint x;\n${F}\nso:\n${F}python\ny\n${F}`,
      "so:",
      "y",
    ],
    ["python3 and blanks are a language", `${F}python3 \nx\n${F}`, undefined, "x"],
    ["a block of no language behind one of Python", `${F}python\nx\n${F}\nprints\n${F}\n5\n${F}`, "5", "x"],
    ["attributes", `${F}python title="a.py" {1,2}\nx\n${F}`, undefined, "x"],
    ["attributes in braces", `${F}{.python .numberLines}\nx\n${F}`, undefined, "x"],
    ["a session says another language", `${F}python-repl\nx\n${F}\n${F}pycon\nx\n${F}`, undefined, undefined],
    [
      "a quotation",
      `> so:\n> ${F}python\n> def f():\n>     return 1\n> ${F}`,
      "> def f():\n>     return 1\n>",
      "def f():\n    return 1",
    ],
    ["a quotation in a quotation", ">> ~~~py\n>> x\n> > y\n>> ~~~", undefined, "x\ny"],
    ["a session in a quotation", `> ${F}python\n> >>> x\n> ${F}`, "> >>> x\n>", ">>> x"],
    ["tildes", "~~~python\nx\n~~~", undefined, "x"],
    ["tildes around backticks", `~~~py\nx = <<${F}>>\n~~~`, undefined, `x = <<${F}>>`],
    ["more backticks around fewer", `${F}\`python\nx = <<${F}>>\n${F}\``, "x = <<", `x = <<${F}>>`],
    [
      "a block indented by four",
      `1. so\n\n    ${F}python\n    def f():\n\n        pass\n    f()\n    ${F}\n`,
      "def f():\n\n        pass\n    f()",
      "def f():\n\n    pass\nf()",
    ],
    ["a block indented by tabs", `\t${F}python\n\tif x:\n\t\ty\n\t${F}`, "if x:\n\t\ty", "if x:\n\ty"],
  ])("%s", (_, text, reference, strict) => {
    expect(both(text)).toEqual([reference, strict]);
  });
});

test("hostile completions take no time", () => {
  const started = performance.now();
  for (const text of [
    "~~~\n",
    `${F}x\n~~~\n`,
    F,
    `${F}\n`,
    `${F}python\n`,
    "`",
    "\n---\n",
    `${F}python\n${" ".repeat(1000)}`,
    " ",
  ]) {
    both(text.repeat(Math.ceil((1 << 20) / text.length)));
  }
  expect(performance.now() - started).toBeLessThan(15_000);
});
