// Deliberate faults (mutants) that these tests detect: expected values are sent to the program's process; the
// program's own equality decides; a broken test counts as a wrong answer.
import { describe, expect, test } from "vitest";
import { assertions } from "../../../lib/domains/code/assertions.ts";

const block = (code: string) => `\`\`\`python\n${code}\n\`\`\``;
const judge = (tests: readonly string[], code: string, prelude = "") =>
  assertions.verify(
    { text: block(code), finish: "eos" },
    assertions.parseReference({ entryPoint: "f", prelude, tests }),
  );

describe("assertions", () => {
  test.each([
    [["assert f(2) == 4", "assert f(x=-1) == -2"], "def f(x):\n    return 2 * x", "correct"],
    [["assert f(2) == 4"], "def f(x):\n    return 5", "wrong"],
    [
      ["assert abs(f() - 0.5) < 1e-9", "assert set(f([1], k={2: (3,)})) == {1}"],
      "def f(a=None, k=None):\n    return 0.5 if a is None else a + list(k)[:0]",
      "correct",
    ],
    [["for i in range(4):\n    assert f(f(i)) == i"], "def f(x):\n    return -x", "correct"],
    [["assert candidate(1) == 1"], "def f(x):\n    print('loud')\n    return x", "correct"],
    [["assert f(1) == 1"], "def g(x):\n    return x", "wrong"],
    [["assert f(1) == 1"], "def f(x)\n    return x", "unparsable"],
    [["assert len(f(1)) == 1"], "def f(x):\n    return None", "wrong"],
  ] as const)("%j of %j: %s", async (tests, code, status) => {
    expect((await judge(tests, code)).status).toBe(status);
  });

  test("prelude comes before program and tests alike, randomness is the same in every run", async () => {
    const prelude = "from random import randint\ndef twice(x):\n    return 2 * x\ndef f(x):\n    pass";
    const tests = ["for _ in range(3):\n    x = randint(0, 10 ** 9)\n    assert f(x) == twice(x) + 1"];
    expect((await judge(tests, "def f(x):\n    return twice(x) + 1", prelude)).status).toBe("correct");
    expect((await judge(tests, "def g(x):\n    return 1", prelude)).reason).toContain("an assertion fails");
  });

  test.each([
    [
      "an equality of its own",
      "class A(int):\n    def __eq__(self, o):\n        return True\n    __hash__ = int.__hash__\ndef f(x):\n    return A(0)",
    ],
    [
      "a look at who calls",
      "import sys\ndef f(x):\n    g = sys._getframe()\n    while g:\n        for v in list(g.f_locals.values()) + list(g.f_globals.values()):\n            if isinstance(v, str) and 'SECRET' in v:\n                return v[v.index('SECRET'):][:9]\n        g = g.f_back\n    return 'nothing'",
    ],
    [
      "no assertions any more",
      "import builtins\nbuiltins.AssertionError = KeyError\nimport sys\nsys.exit(0)",
    ],
    ["an early end", "import os\ndef f(x):\n    os._exit(0)"],
  ])("a program gets nowhere with %s", async (_, code) => {
    expect((await judge(["assert f(1) == 'SECRET123'"], code)).status).toBe("wrong");
  });

  test("a test that does not run is no fault of the program", async () => {
    for (const bad of ["assert f(1 == 1", "assert g(1) == 1", "class P: pass\nassert f(P()) == 1"])
      await expect(judge([bad], "def f(x):\n    return 1")).rejects.toMatchObject({ code: "HONE_ERR_DATA" });
  });

  test("references are checked", async () => {
    for (const raw of [
      {},
      { entryPoint: "f" },
      { entryPoint: "f", tests: [] },
      { entryPoint: "f()", tests: ["x"] },
    ])
      expect(() => assertions.parseReference(raw)).toThrow(/assertions: the reference is not \{ entryPoint/);
    await expect(
      assertions.verify(
        { text: "no program", finish: "eos" },
        assertions.parseReference({ entryPoint: "f", tests: ["x"] }),
      ),
    ).resolves.toMatchObject({ status: "no_answer" });
  });
});
