// Deliberate faults (mutants) that these tests detect: outputs are compared after all, an outage scores, the program
// finds the answer, any file is taken for testlib.h, the worst test is not the verdict.
import { describe, expect, test } from "vitest";
import { checker } from "../../../lib/domains/code/checker.ts";
import { nativeHere } from "../../fixtures/native-sandbox.ts";
import { SUM_CHECKER, SUM_REFERENCE } from "../../fixtures/testlib/checkers.ts";

const sandbox = await nativeHere();
const judge = async (program: string, reference: object = SUM_REFERENCE) =>
  checker.verify(
    { text: `\`\`\`python\n${program}\n\`\`\``, finish: "eos" },
    checker.parseReference(reference),
  );
const prints = (first: string, second: string) => `print("${first}" if input() == "5" else "${second}")`;

describe.skipIf(sandbox === undefined)("what a program prints is judged by the problem's checker", () => {
  test("which can be compiled here", async () => {
    await expect(checker.prepare!()).resolves.toBeUndefined();
  });

  test.each([
    ["the answer itself", prints("2 3", "3 4"), "correct", 1, "2 of 2 tests pass"],
    ["another right output", prints("4\\n1", "-1 8"), "correct", 1, "2 of 2 tests pass"],
    [
      "a wrong one",
      prints("2 3", "3 3"),
      "wrong",
      0,
      "test 2 of 2: the checker says: wrong answer 3 + 3 is not 7",
    ],
    [
      "half of it",
      prints("2", "3 4"),
      "wrong",
      0,
      "test 1 of 2: the checker says: wrong output format one number",
    ],
    ["no number", prints("x y", "3 4"), "wrong", 0, "expected a number, found x"],
    [
      "nothing",
      "pass",
      "wrong",
      0,
      "test 1 of 2: the checker says: wrong output format unexpected end of file",
    ],
    ["points", prints("5 0", "3 4"), "partial", 0.5, "test 1 of 2: the checker says: points 0.5 one is zero"],
    ["points, and a wrong one later", prints("5 0", "3 3"), "wrong", 0, "test 2 of 2"],
    ["what makes the checker crash", prints("998 0", "3 4"), "wrong", 0, "status 139 on what it prints"],
    ["an error", "raise ValueError", "wrong", 0, "test 1 of 2: ValueError"],
  ])("%s", async (_, program, status, score, reason) => {
    expect(await judge(program)).toEqual({ status, score, reason: expect.stringContaining(reason) });
  });

  test("a checker that says it failed gives no verdict", async () => {
    await expect(judge(prints("999 0", "3 4"))).rejects.toMatchObject({
      code: "HONE_ERR_VERIFIER",
      message: "the problem's checker says that it failed: FAIL asked to fail",
    });
  });

  test("one that does not compile gives none either, and one that is never needed is not compiled", async () => {
    const broken = { ...SUM_REFERENCE, checker: "int main() { return nothing; }" };
    await expect(judge(prints("2 3", "3 4"), broken)).rejects.toMatchObject({
      code: "HONE_ERR_DATA",
      message: expect.stringMatching(/^the problem's checker does not compile: .*nothing/),
    });
    expect(await judge("raise ValueError", broken)).toMatchObject({ status: "wrong" });
  });

  test("a header that is gone gives none", async () => {
    const gone = { ...SUM_REFERENCE, testlib: "/no/such/testlib.h", checker: `${SUM_CHECKER}// gone` };
    await expect(judge(prints("2 3", "3 4"), gone)).rejects.toMatchObject({
      code: "HONE_ERR_IO",
      message: expect.stringContaining("cannot read /no/such/testlib.h"),
    });
  });

  test("the program sees neither the answer nor the checker", async () => {
    const looks = `
import os
input()
seen = [os.path.join(at, name) for at, _, names in os.walk("/tmp") for name in names]
print("2 3" if not seen and "SECRET" not in repr([open(p, "rb").read() for p in ("/dev/stdin",)]) else seen)`;
    const reference = {
      ...SUM_REFERENCE,
      input_output: { inputs: ["5\n"], outputs: ["2 3 SECRET\n"] },
    };
    expect(await judge(looks, reference)).toMatchObject({ status: "correct" });
  });
});

test.each([
  [{ ...SUM_REFERENCE, checker: undefined }, "checker"],
  [{ ...SUM_REFERENCE, checker: "" }, "checker"],
  [{ ...SUM_REFERENCE, testlib: undefined }, "includes testlib.h"],
  [{ ...SUM_REFERENCE, testlib: "/etc/passwd" }, "testlib.h"],
  [{ ...SUM_REFERENCE, input_output: { fn_name: "f", inputs: [[1]], outputs: [1] } }, "call a function"],
  [{ ...SUM_REFERENCE, input_output: "{" }, "no JSON"],
])("the reference %# is refused: %s", (raw, message) => {
  expect(() => checker.parseReference(raw)).toThrow(
    expect.objectContaining({ code: "HONE_ERR_DATA", message: expect.stringContaining(message) }),
  );
});
